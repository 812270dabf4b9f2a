// The organization's API keys: issue, change, rotate, revoke.
import { get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { formatAgo, formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { serverNow } from "../lib/session_end.js"
import { texts } from "../lib/texts.js"
import { keys as t } from "../lib/texts_keys.js"
import { html } from "../lib/view.js"
import { Badge, Empty, Loaded, More, Table, Title } from "../ui/parts.js"
import { ChangeKey, IssueKey, RevokeKey, RotateKey, ShowKey } from "./dialogs.js"

/** @type {Array<"change" | "rotate" | "revoke">} */
const CHANGES = ["change", "rotate", "revoke"]
const DIALOGS = { issue: IssueKey, change: ChangeKey, rotate: RotateKey, revoke: RevokeKey }

/** @param {Api.ApiKey} key @returns {"active" | "expired" | "revoked"} */
export const stateOf = (key, now = serverNow()) => {
  if (key.revoked_at) return "revoked"
  return key.expires_at && new Date(key.expires_at).getTime() <= now ? "expired" : "active"
}

/** @param {{ record: Api.ApiKey, isAdmin: boolean, ask: (action: string, record: Api.ApiKey) => void }} props */
const Row = ({ record, isAdmin, ask }) => {
  const state = stateOf(record)
  return html`<tr>
    <th scope="row">${record.name}<br /><code class="faint">${record.prefix}…${record.last_four}</code></th>
    <td><${Badge} kind=${state === "active" ? "good" : "plain"}>${t.states[state]}<//></td>
    <td>${t.roles[record.role] ?? record.role}</td>
    <td>${record.last_used_at ? formatAgo(record.last_used_at) : t.neverUsed}</td>
    <td>${record.expires_at ? formatTime(record.expires_at) : t.noEnd}</td>
    <td>${record.created_by_email ?? t.operator}</td>
    ${isAdmin && html`<td>${state === "active" && html`<div class="actions">${CHANGES.map(action => html`
      <button type="button" class="small ${action === "revoke" ? "danger" : ""}" aria-label=${`${t.actions[action]}: ${record.name}`}
        onClick=${() => ask(action, record)}>${t.actions[action]}</button>`)}</div>`}</td>`}</tr>`
}

export default ({ role }) => {
  const isAdmin = role !== "viewer"
  const list = useList((cursor, signal) => get("/v1/api-keys", { cursor }, signal), "api_keys", [])
  const { dialog, ask, close } = useDialog()
  const done = async made => {
    if (made?.key) {
      ask({ action: "made", record: made })
      list.reload()
      return
    }
    await list.reload()
    close()
    announce(t.done[dialog.action])
  }
  const Asked = dialog && DIALOGS[dialog.action]
  return html`<${Title} text=${t.title} actions=${isAdmin && html`
      <button type="button" class="primary" onClick=${() => ask({ action: "issue" })}>${t.issue}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${isAdmin ? [...t.columns, texts.parts.actionColumn] : t.columns} isStacked=${true}>${list.items.map(record => html`
          <${Row} key=${record.id} record=${record} isAdmin=${isAdmin} ask=${(action, of) => ask({ action, record: of })} />`)}<//>
        <${More} list=${list} />`}<//>
    ${Asked && html`<${Asked} record=${dialog.record} onDone=${done} onClose=${close} />`}
    ${dialog?.action === "made" && html`<${ShowKey} record=${dialog.record} onClose=${close} />`}`
}
