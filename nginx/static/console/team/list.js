// The team of an organization: seats and invitations. Owners manage them.
import { get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { formatDay } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { route } from "../lib/router.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { team as t } from "../lib/texts_team.js"
import { html } from "../lib/view.js"
import { Badge, Loaded, More, Table, Title } from "../ui/parts.js"
import { ChangeRole, Invite, RemoveSeat, Resend, Withdraw } from "./dialogs.js"
import { Leave } from "./leave.js"

const DIALOGS = { invite: Invite, role: ChangeRole, remove: RemoveSeat, resend: Resend, withdraw: Withdraw }
const KINDS = { active: "good", invited: "warn", expired: "plain" }
const DANGEROUS = new Set(["remove", "withdraw", "leave"])

/** What the person may do with a seat or an invitation. Each person may leave. */
export const actionsOf = (seat, isOwner, isOwn) => {
  if (isOwn) return isOwner ? ["role", "leave"] : ["leave"]
  if (!isOwner) return []
  return seat.invitation_id ? ["resend", "withdraw"] : ["role", "remove"]
}

/** @param {{ seat: Api.TeamSeat, isOwner: boolean, isOwn: boolean, ask: (dialog: any) => void }} props */
const Row = ({ seat, isOwner, isOwn, ask }) => html`<tr>
  <th scope="row"><bdi>${seat.email}</bdi>${isOwn && html` <span class="faint">${t.you}</span>`}</th>
  <td>${texts.roles[seat.role]}</td>
  <td><${Badge} kind=${KINDS[seat.status]}>${t.states[seat.status] ?? seat.status}<//></td>
  <td>${seat.invitation_id ? "–" : seat.two_factor_enrolled ? t.enrolled : t.notEnrolled}</td>
  <td class="nowrap">${formatDay(seat.created_at)}</td>
  <td><div class="actions">${actionsOf(seat, isOwner, isOwn).map(action => html`
    <button type="button" class="small ${DANGEROUS.has(action) ? "danger" : ""}"
      aria-label=${`${t.actions[action]}: ${seat.email}`} onClick=${() => ask({ action, seat })}>${t.actions[action]}</button>`)}</div></td></tr>`

export default ({ role }) => {
  const { admin, seats } = useStore(session)
  const { organization } = useStore(route)
  const isOwner = role === "owner"
  const list = useList((cursor, signal) => get("/v1/seats", { cursor }, signal), "seats", [])
  const { dialog, ask, close } = useDialog()
  const done = async text => {
    await list.reload()
    close()
    announce(text)
  }
  const Asked = dialog && DIALOGS[dialog.action]
  return html`<${Title} text=${t.title} actions=${isOwner && html`
      <button type="button" class="primary" onClick=${() => ask({ action: "invite" })}>${t.actions.invite}</button>`} />
    <p>${isOwner ? t.hint : t.hintOthers}</p>
    <${Loaded} state=${list}>${() => html`
      <${Table} caption=${t.title} columns=${[...t.columns, texts.parts.actionColumn]} isStacked=${true}>${list.items.map(seat => html`
        <${Row} key=${seat.admin_id ?? seat.invitation_id} seat=${seat} isOwner=${isOwner} isOwn=${seat.admin_id === admin?.id} ask=${ask} />`)}<//>
      <${More} list=${list} />`}<//>
    ${dialog?.action === "leave" && html`<${Leave} seat=${seats.find(one => one.organization_id === organization)} onClose=${close} />`}
    ${Asked && html`<${Asked} seat=${dialog.seat} onDone=${done} onClose=${close} />`}`
}
