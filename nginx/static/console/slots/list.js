// The slots of an organization: create, edit, delete, and the code that a page needs.
import { announce } from "../lib/announce.js"
import { useLoadedDialog } from "../lib/dialog.js"
import { formatDay } from "../lib/format.js"
import { get } from "../lib/api.js"
import { useList } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { slots as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { sizeOf } from "../ads/parts.js"
import { Empty, ErrorBox, Loaded, More, Table, Title } from "../ui/parts.js"
import { CodeOfSlot, loadCode } from "./code.js"
import { DeleteSlot, SlotForm, usersOf } from "./dialogs.js"

const DIALOGS = { create: SlotForm, edit: SlotForm, code: CodeOfSlot, delete: DeleteSlot }
/** What a dialog needs before it is shown. @type {Record<string, (slot: any) => Promise<any>>} */
const LOADS = { code: loadCode, delete: usersOf }

const Row = ({ slot, isAdmin, isBusy, ask }) => html`<tr><th scope="row">${slot.name}</th><td><code>${slot.slug}</code></td>
  <td class="nowrap">${sizeOf(slot)}</td><td class="nowrap">${formatDay(slot.updated_at)}</td>
  <td><div class="actions">${(isAdmin ? ["code", "edit", "delete"] : ["code"]).map(action => html`<button type="button"
    class="small ${action === "delete" ? "danger" : ""}" disabled=${isBusy && action in LOADS} aria-label=${`${t[action]}: ${slot.name}`}
    onClick=${() => ask(action, slot)}>${t[action]}</button>`)}</div></td></tr>`

export default ({ role }) => {
  const isAdmin = role !== "viewer"
  const list = useList((cursor, signal) => get("/console/v1/ads/slots", { cursor, limit: 100 }, signal), "slots", [])
  const { dialog, ask, askWith, opening, close } = useLoadedDialog()
  const askFor = (action, slot) => (LOADS[action] ? askWith({ action, slot }, () => LOADS[action](slot)) : ask({ action, slot }))
  const done = async text => {
    await list.reload()
    close()
    announce(text)
  }
  const Asked = dialog && DIALOGS[dialog.action]
  return html`<${Title} text=${t.title} actions=${isAdmin && html`<button type="button" class="primary" onClick=${() => askFor("create")}>${t.create}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${[...t.columns, texts.parts.actionColumn]} isStacked=${true}>${list.items.map(slot => html`
          <${Row} key=${slot.id} slot=${slot} isAdmin=${isAdmin} isBusy=${opening.isBusy} ask=${askFor} />`)}<//><${More} list=${list} />`}<//>
    <${ErrorBox} error=${opening.error} isLow=${true} />
    ${Asked && html`<${Asked} slot=${dialog.slot} data=${dialog.data} onDone=${done} onReload=${list.reload} onClose=${close} />`}`
}
