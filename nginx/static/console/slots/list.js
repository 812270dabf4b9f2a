// The slots of an organization: create, edit, delete, and the code that a page needs.
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { formatDay } from "../lib/format.js"
import { get } from "../lib/api.js"
import { useList } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { slots as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { sizeOf } from "../ads/parts.js"
import { Empty, Loaded, More, Table, Title } from "../ui/parts.js"
import { CodeOfSlot } from "./code.js"
import { DeleteSlot, SlotForm } from "./dialogs.js"

const DIALOGS = { create: SlotForm, edit: SlotForm, code: CodeOfSlot, delete: DeleteSlot }

const Row = ({ slot, isAdmin, ask }) => html`<tr><th scope="row">${slot.name}</th><td><code>${slot.slug}</code></td>
  <td class="nowrap">${sizeOf(slot)}</td><td class="nowrap">${formatDay(slot.updated_at)}</td>
  <td><div class="actions">${(isAdmin ? ["code", "edit", "delete"] : ["code"]).map(action => html`<button type="button"
    class="small ${action === "delete" ? "danger" : ""}" aria-label=${`${t[action]}: ${slot.name}`}
    onClick=${() => ask({ action, slot })}>${t[action]}</button>`)}</div></td></tr>`

export default ({ role }) => {
  const isAdmin = role !== "viewer"
  const list = useList((cursor, signal) => get("/console/v1/ads/slots", { cursor, limit: 100 }, signal), "slots", [])
  const { dialog, ask, close } = useDialog()
  const done = async text => {
    await list.reload()
    close()
    announce(text)
  }
  const Asked = dialog && DIALOGS[dialog.action]
  return html`<${Title} text=${t.title} actions=${isAdmin && html`<button type="button" class="primary" onClick=${() => ask({ action: "create" })}>${t.create}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${[...t.columns, texts.keys.actionColumn]}>${list.items.map(slot => html`
          <${Row} key=${slot.id} slot=${slot} isAdmin=${isAdmin} ask=${ask} />`)}<//><${More} list=${list} />`}<//>
    ${Asked && html`<${Asked} slot=${dialog.slot} onDone=${done} onReload=${list.reload} onClose=${close} />`}`
}
