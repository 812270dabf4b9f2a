// Leaving an organization: the admin's own seat, whatever its role.
import { get, post } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useAction } from "../lib/load.js"
import { go } from "../lib/router.js"
import { session, signedOut, takeSession } from "../lib/session.js"
import { leaving as t } from "../lib/texts_invitations.js"
import { html } from "../lib/view.js"
import { Confirm, ErrorBox } from "../ui/parts.js"

/** Shows the organizations that are left, or the sign-in. */
const afterwards = async () => {
  const reply = session.get().seats.length > 1 ? await get("/v1/session") : null
  go("#/")
  if (reply) takeSession(reply)
  else signedOut()
}

/** seat: as GET /v1/session has it. */
export const Leave = ({ seat, onClose }) => {
  const running = useAction()
  const confirm = () => running.run(async () => {
    await post(`/v1/session/seats/${seat.organization_id}/leave`)
    announce(t.left(seat.name))
    await afterwards()
  })
  return html`<${Confirm} title=${t.title(seat.name)} action=${t.leave} isBusy=${running.isBusy} onConfirm=${confirm} onClose=${onClose}>
    <ul>${t.list.map(line => html`<li>${line}</li>`)}</ul>
    ${session.get().seats.length === 1 && html`<p class="box warning">${t.last}</p>`}
    <${ErrorBox} error=${running.error} known=${t.errors} /><//>`
}
