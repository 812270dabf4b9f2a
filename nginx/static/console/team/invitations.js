// Invitations to the signed-in person: the page that the mail links. One that names an organization comes first.
import { get, post } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { formatTime } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { format, go } from "../lib/router.js"
import { session, takeSession } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { invitations as t } from "../lib/texts_invitations.js"
import { html, useState } from "../lib/view.js"
import { Confirm, Empty, ErrorBox, Loaded, Title } from "../ui/parts.js"
import { trySignOut } from "../ui/sign_out.js"

const refresh = async signal => takeSession(await get("/v1/session", undefined, signal))

const Decline = ({ invitation, onClose }) => {
  const running = useAction()
  const confirm = () => running.run(async () => {
    await post(`/v1/session/invitations/${invitation.id}/decline`)
    announce(t.declined(invitation.organization_name))
    await refresh()
  })
  return html`<${Confirm} title=${t.declineTitle(invitation.organization_name)} action=${t.decline} isBusy=${running.isBusy}
    error=${running.error} onConfirm=${confirm} onClose=${onClose}><p>${t.declineHint}</p><//>`
}

const Card = ({ invitation }) => {
  const [declines, decline] = useState(false)
  const accepting = useAction()
  const accept = () => accepting.run(async () => {
    let gone = /** @type {any} */ (null)
    await post(`/v1/session/invitations/${invitation.id}/accept`, {}).catch(error => {
      if (error.code !== "NOT_FOUND") throw error
      gone = error // an earlier attempt, whose reply was lost, may have accepted it
    })
    const reply = await get("/v1/session")
    if (gone && !reply.seats.some(one => one.organization_id === invitation.organization_id)) throw gone
    go(format(invitation.organization_id, [])) // first: the page of the link says of a seat that it exists
    takeSession(reply)
    announce(t.accepted(invitation.organization_name, texts.roles[invitation.role].toLowerCase()))
  })
  return html`<li><h2>${invitation.organization_name}</h2><p>${t.rights[invitation.role]}</p>
    <p class="faint">${t.by(invitation.invited_by_email)} ${t.until(formatTime(invitation.expires_at))}</p>
    <${ErrorBox} error=${accepting.error} known=${t.gone} />
    <div class="actions">
      <button type="button" class="primary" disabled=${accepting.isBusy} aria-label=${`${t.accept}: ${invitation.organization_name}`} onClick=${accept}>${t.accept}</button>
      <button type="button" aria-label=${`${t.decline}: ${invitation.organization_name}`} onClick=${() => decline(true)}>${t.decline}</button></div>
    ${declines && html`<${Decline} invitation=${invitation} onClose=${() => decline(false)} />`}</li>`
}

const None = ({ email }) => html`<${Empty} title=${t.none}><p>${t.noneHint(email)}</p><p>${t.ask}</p>
  <button type="button" onClick=${() => trySignOut(location.hash)}>${t.otherAddress}</button><//>`

/** organization: of the link in the mail. */
export default ({ organization }) => {
  const state = useLoad(async signal => {
    await refresh(signal)
    return true
  }, [])
  const { invitations, admin, seats } = useStore(session)
  const isFirst = one => one.organization_id === organization
  const ordered = [...invitations.filter(isFirst), ...invitations.filter(one => !isFirst(one))]
  return html`<${Title} text=${t.title} /><${Loaded} state=${state}>${() => html`
    ${organization && ordered.length > 0 && !isFirst(ordered[0]) && html`<p class="box warning">${t.other(admin?.email)}</p>`}
    ${ordered.length > 0
      ? html`<p>${t.hint}</p><ul class="cards wide">${ordered.map(one => html`<${Card} key=${one.id} invitation=${one} />`)}</ul>`
      : html`<${None} email=${admin?.email} />`}
    ${seats.length > 0 && html`<p class="after"><a href="#/">${t.back}</a></p>`}`}<//>`
}
