// Decides what is shown: the sign-in, the result of connecting a provider, or a screen of an organization.
import { SecondFactor } from "../access/second_factor.js"
import { SignIn } from "../access/sign_in.js"
import { get } from "../lib/api.js"
import { loadModule } from "../lib/later.js"
import { announce } from "../lib/announce.js"
import { format, match, replace, route, startRouter } from "../lib/router.js"
import { confirmation, followTabs, mayHaveSession, session, takeSession } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/view.js"
import { Boundary } from "./boundary.js"
import { Empty, ErrorBox, Loading, Title } from "./parts.js"
import { HOME, SCREENS } from "./screens.js"
import { SessionEnd } from "./session_end.js"
import { Announcement, Head, Shell } from "./shell.js"
import { LeaveQuestion } from "./leave_question.js"

const t = texts.app

/** The module of a screen, which is loaded when it is shown. title: of the screen until then. changes: see SCREENS. */
const Later = ({ load, title, changes, ...rest }) => {
  const [isForbidden] = useState(changes && rest.role === "viewer") // an admin who becomes a viewer keeps the text
  const [{ Screen, error }, show] = useState({ Screen: /** @type {any} */ (null), error: /** @type {any} */ (null) })
  useEffect(() => {
    let isCurrent = true
    loadModule(load).then(module => isCurrent && show({ Screen: module.default, error: null }),
      () => isCurrent && show({ Screen: null, error: { message: t.notLoaded } }))
    return () => void (isCurrent = false)
  }, [])
  if (isForbidden) return html`<${Title} text=${title} /><${ErrorBox} error=${{ code: "FORBIDDEN" }} />`
  if (Screen) return html`<${Screen} ...${rest} />`
  return html`<${Title} text=${title} />
    ${error ? html`<${ErrorBox} error=${error} retry=${() => location.reload()} />` : html`<${Loading} />`}`
}

/** lost: the seat that the person had in the organization of the address. */
const NoOrganization = ({ seats, lost }) => html`<${Title} text=${t.noSeat} />
  ${lost && html`<p class="box warning" role="alert">${t.seatLost(lost.name)}</p>`}
  <p>${!seats.length ? t.askForSeat : lost ? t.yourSeats : t.chooseOrganization}</p>
  <ul>${seats.map(seat => html`<li><a href=${format(seat.organization_id, [HOME])}>${seat.name}</a></li>`)}</ul>`

const Missing = ({ organization }) => html`<${Title} text=${t.missing} /><${Empty} title=${t.missingHint}>
  <p><a href=${format(organization, [HOME])}>${t.home}</a></p><//>`

const Inside = () => {
  const { organization, path, query } = useStore(route)
  const { seats, lostSeats, activeOrganization } = useStore(session)
  const seat = seats.find(one => one.organization_id === organization)
  const isInvitation = organization === null && path[0] === "invitation"
  const invited = isInvitation ? seats.find(one => one.organization_id === query.organization) : undefined
  const first = invited ?? seats.find(one => one.organization_id === activeOrganization) ?? seats[0]
  const isStart = (path.length === 0 || invited !== undefined) && first !== undefined && (organization === null || seat !== undefined)
  useEffect(() => {
    if (!isStart) return
    if (invited) announce(t.joined(invited.name, texts.roles[invited.role].toLowerCase()))
    replace(format(seat ? organization : first.organization_id, [HOME]))
  }, [isStart, organization])
  if (isStart) return null
  if (isInvitation) return html`<${Shell}><${Invitations} organization=${query.organization} /><//>`
  if (organization === null && path[0] === "connections") return html`<${Shell}><${ConnectionResult} /><//>`
  if (!seat) return html`<${Shell}><${NoOrganization} seats=${seats} lost=${lostSeats.find(one => one.organization_id === organization)} /><//>`
  const found = match(path, SCREENS) // each address has a screen of its own: a form of one record must not change another
  return html`<${Shell}>${found
    ? html`<${Boundary} key=${format(organization, path)}><${Later} ...${found.target} role=${seat.role} ...${found.parameters} /><//>`
    : html`<${Missing} organization=${organization} />`}<//>`
}

const Invitations = props => html`<${Boundary}><${Later} title=${texts.screens.invitations} load=${() => import("../team/invitations.js")} ...${props} /><//>`
const ConnectionResult = () => html`<${Later} title=${texts.shell.links.connections} load=${() => import("../connections/result.js")} />`

const Outside = ({ children }) => html`<${Head} /><main id="main" class="narrow" tabindex="-1">${children}</main><${Announcement} />`

const askForSession = async showError => {
  try {
    takeSession(await get("/v1/session"))
  } catch (error) {
    if (error.status !== 401) showError(error)
  }
}

/** The sign-in on top of a page whose session has ended. The page keeps what was typed. */
const Cover = ({ children }) => {
  const dialog = useRef(null)
  useLayoutEffect(() => {
    const { activeElement: before, title } = document
    const element = dialog.current
    const show = () => element.showModal()
    element.addEventListener("close", show)
    show()
    return () => {
      element.removeEventListener("close", show)
      element.close()
      document.title = title
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return html`<dialog ref=${dialog} class="cover" aria-label=${texts.signIn.title} onCancel=${event => event.preventDefault()}>
    <div class="narrow">${children}</div></dialog>`
}

const SignInSteps = ({ state }) => (state === "factor" ? html`<${SecondFactor} />` : html`<${SignIn} />`)

const Signed = ({ state, hasEnded, admin }) => {
  const { done } = useStore(confirmation)
  return html`<${Inside} key=${admin?.id} /><${SessionEnd} /><${LeaveQuestion} />${done && html`<${SecondFactor} asks=${done} />`}
    ${hasEnded && html`<${Cover}><${SignInSteps} state=${state} /><//>`}`
}

export const App = () => {
  const { state, hasEnded, admin } = useStore(session)
  const { path, organization } = useStore(route)
  const [error, showError] = useState(null)
  useEffect(() => {
    startRouter()
    if (mayHaveSession()) askForSession(showError)
    else session.set({ state: "out" })
    return followTabs(() => askForSession(() => {}))
  }, [])
  if (error) return html`<${Outside}><${Title} text=${t.unavailable} /><${ErrorBox} error=${error} retry=${() => location.reload()} /><//>`
  if (state === "unknown") return html`<${Outside}><${Loading} /><//>`
  if (state === "in" || hasEnded) return html`<${Signed} state=${state} hasEnded=${hasEnded} admin=${admin} />`
  if (state === "out" && organization === null && path[0] === "connections") return html`<${Outside}><${ConnectionResult} /><//>`
  return html`<${Outside}><${SignInSteps} state=${state} /><//>`
}
