// The attributes that members of the organization can have.
import { get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { isolate } from "../lib/isolate.js"
import { useList } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { attributes as t } from "../lib/texts_attributes.js"
import { html } from "../lib/view.js"
import { Badge, Loaded, More, Table, Title } from "../ui/parts.js"
import { EditAttribute } from "./edit.js"

export default ({ role }) => {
  const isAdmin = role !== "viewer"
  const list = useList((cursor, signal) => get("/v1/attributes", { cursor, limit: 100 }, signal), "attributes", [])
  const { dialog, ask, close } = useDialog()
  const done = async () => {
    await list.reload()
    close()
    announce(t.saved)
  }
  return html`<${Title} text=${t.title} actions=${isAdmin && html`<button type="button" class="primary" onClick=${() => ask({})}>${t.add}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${list}>${() => html`
      <${Table} caption=${t.title} columns=${isAdmin ? [...t.columns, texts.parts.actionColumn] : t.columns} isStacked=${true}>${list.items.map(record => html`<tr key=${record.key}>
        <th scope="row">${record.label}</th><td><code>${record.key}</code></td><td>${t.types[record.type] ?? record.type}</td>
        <td>${record.choices.map(isolate).join(", ") || "–"}</td>
        <td><${Badge} kind=${record.enabled ? "good" : "plain"}>${record.enabled ? t.on : t.off}<//></td>
        ${isAdmin && html`<td><button type="button" class="small" aria-label=${`${t.change}: ${record.label}`} onClick=${() => ask({ record })}>${t.change}</button></td>`}</tr>`)}<//>
      <${More} list=${list} />`}<//>
    ${dialog && html`<${EditAttribute} record=${dialog.record} onDone=${done} onClose=${close} onReload=${list.reload} />`}`
}
