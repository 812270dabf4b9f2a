// Decides what is shown: the sign-in, the result of connecting a provider, or a screen of an organization.
import { SecondFactor } from "../access/second_factor.js"
import { SignIn } from "../access/sign_in.js"
import { get } from "../lib/api.js"
import { loadModule } from "../lib/later.js"
import { format, match, route, startRouter } from "../lib/router.js"
import { confirmation, endSession, mayHaveSession, session, takeSession } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Empty, ErrorBox, Loading, Title } from "./parts.js"
import { HOME, SCREENS } from "./screens.js"
import { Announcement, Head, Shell } from "./shell.js"

const t = texts.app

/** A module that is loaded when it is shown. */
const Later = ({ load, name, ...rest }) => {
  const [state, show] = useState({ name: "", Screen: /** @type {any} */ (null), error: /** @type {any} */ (null) })
  useEffect(() => {
    let isCurrent = true
    loadModule(load).then(module => isCurrent && show({ name, Screen: module.default, error: null }),
      () => isCurrent && show({ name, Screen: null, error: { message: t.notLoaded } }))
    return () => void (isCurrent = false)
  }, [name])
  if (state.name !== name) return html`<${Loading} />`
  if (state.error) return html`<${ErrorBox} error=${state.error} retry=${() => location.reload()} />`
  return html`<${state.Screen} ...${rest} />`
}

const NoOrganization = ({ seats }) => html`<${Title} text=${t.noSeat} />
  <p>${seats.length ? t.chooseOrganization : t.askForSeat}</p>
  <ul>${seats.map(seat => html`<li><a href=${format(seat.organization_id, [HOME])}>${seat.name}</a></li>`)}</ul>`

const Missing = ({ organization }) => html`<${Title} text=${t.missing} /><${Empty} title=${t.missingHint}>
  <p><a href=${format(organization, [HOME])}>${t.home}</a></p><//>`

const Inside = () => {
  const { organization, path, query } = useStore(route)
  const { seats, activeOrganization } = useStore(session)
  const seat = seats.find(one => one.organization_id === organization)
  const isInvitation = organization === null && path[0] === "invitation"
  const invited = isInvitation ? seats.find(one => one.organization_id === query.organization) : undefined
  const first = invited ?? seats.find(one => one.organization_id === activeOrganization) ?? seats[0]
  const isStart = (path.length === 0 || isInvitation) && first !== undefined && (organization === null || seat !== undefined)
  useEffect(() => {
    if (isStart) location.replace(format(seat ? organization : first.organization_id, [HOME]))
  }, [isStart])
  if (isStart) return null
  if (organization === null && path[0] === "connections") return html`<${Shell}><${ConnectionResult} /><//>`
  if (!seat) return html`<${Shell}><${NoOrganization} seats=${seats} /><//>`
  const found = match(path, SCREENS)
  return html`<${Shell}>${found
    ? html`<${Later} key=${organization} load=${found.target} name=${found.target.toString()} role=${seat.role} ...${found.parameters} />`
    : html`<${Missing} organization=${organization} />`}<//>`
}

const ConnectionResult = () => html`<${Later} load=${() => import("../connections/result.js")} name="result" />`

const Outside = ({ children }) => html`<${Head} /><main id="main" class="narrow" tabindex="-1">${children}</main><${Announcement} />`

const askForSession = async showError => {
  try {
    takeSession(await get("/v1/session"))
  } catch (error) {
    if (error.status !== 401) showError(error)
  }
}

/** The session ends at a fixed time. The page says so ten minutes before. */
const EndWarning = () => {
  const { expiresAt } = useStore(session)
  const [isNear, show] = useState(false)
  useEffect(() => {
    const rest = new Date(expiresAt ?? 0).getTime() - Date.now() - 600_000
    const timer = setTimeout(() => show(true), Math.min(Math.max(rest, 0), 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }, [expiresAt])
  return isNear && html`<p class="box warning" role="alert">${t.endsSoon}</p>`
}

export const App = () => {
  const { state } = useStore(session)
  const { path, organization } = useStore(route)
  const { done } = useStore(confirmation)
  const [error, showError] = useState(null)
  useEffect(() => {
    startRouter()
    if (mayHaveSession()) askForSession(showError)
    else endSession()
  }, [])
  if (error) return html`<${Outside}><${ErrorBox} error=${error} retry=${() => location.reload()} /><//>`
  if (state === "unknown") return html`<${Outside}><${Loading} /><//>`
  if (state === "in") {
    return html`<${EndWarning} /><${Inside} />${done && html`<${SecondFactor} asks=${done} />`}`
  }
  if (state === "out" && organization === null && path[0] === "connections") return html`<${Outside}><${ConnectionResult} /><//>`
  return html`<${Outside}>${state === "factor" ? html`<${SecondFactor} />` : html`<${SignIn} />`}<//>`
}
