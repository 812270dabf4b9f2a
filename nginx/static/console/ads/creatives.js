// The creatives of a campaign: what each shows, the slots that it fits, and what an admin can do with it.
import { announce } from "../lib/announce.js"
import { call, ifMatch } from "../lib/api.js"
import { useDialog } from "../lib/dialog.js"
import { useAction } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { creatives as t } from "../lib/texts_ads.js"
import { parsePage } from "../lib/trusted.js"
import { html, useState } from "../lib/view.js"
import { Empty, Table } from "../ui/parts.js"
import { FormDialog } from "../ui/dialogs.js"
import { CreativeForm } from "./creative_form.js"
import { CreativePreview } from "./creative_preview.js"
import { sizeOf } from "./parts.js"

/** The names of the slots that have the size of a creative. */
export const slotsOf = (creative, slots) => slots.filter(slot => slot.width === creative.width && slot.height === creative.height).map(slot => slot.name)

const LONGEST = 60 // characters of an HTML creative that the list shows

/** What a creative shows, in short. */
const shortText = ({ kind, alt, image_url: picture, html: content }) =>
  (kind === "image" ? alt ?? picture : parsePage(content).body.textContent.trim().slice(0, LONGEST))

/** A creative in the labels of its buttons. Several creatives may have one kind and size. @param {any} creative @param {string} text its short text */
export const nameOf = (creative, text) => [`${t.kinds[creative.kind]} ${sizeOf(creative)}`, text].filter(Boolean).join(", ")

const Row = ({ creative, slots, isAdmin, ask }) => {
  const fitting = slotsOf(creative, slots)
  const text = shortText(creative)
  const name = nameOf(creative, text)
  const actions = isAdmin ? ["preview", "edit", "delete"] : ["preview"]
  return html`<tr><th scope="row">${t.kinds[creative.kind]}<br /><span class="faint">${text}</span></th>
    <td class="nowrap">${sizeOf(creative)}</td>
    <td>${fitting.join(", ") || html`<span class="fault">${t.noSlot}</span>`}</td>
    <td><a href=${creative.landing_url} target="_blank" rel="noopener noreferrer">${creative.landing_url}</a></td>
    <td><div class="actions">${actions.map(action => html`<button type="button" class="small ${action === "delete" ? "danger" : ""}"
      aria-label=${`${t[action]}: ${name}`} onClick=${() => ask({ action, creative })}>${t[action]}</button>`)}</div></td></tr>`
}

const Delete = ({ creative, isLast, onDone, onReload, onClose }) => {
  const deleting = useAction()
  const remove = () => deleting.run(async () => {
    await call("DELETE", `/console/v1/ads/creatives/${creative.id}`, { headers: ifMatch(creative) })
    await onDone(t.deleted)
  })
  return html`<${FormDialog} title=${t.deleteTitle(sizeOf(creative))} action=${t.delete} kind="danger" record=${creative} running=${deleting} known=${t.conflict} submit=${remove}
    onClose=${onClose} onReload=${onReload}><p>${t.deleteHint}</p>${isLast && html`<p>${t.deleteLast}</p>`}<//>`
}

const DIALOGS = { add: CreativeForm, edit: CreativeForm, preview: CreativePreview, delete: Delete }

/** What the sanitizer removed from the HTML of the creative that was saved last. */
const Removed = ({ lines }) => lines.length > 0 && html`<div class="box warning"><p>${t.differs}</p>
  <pre tabindex="0" role="region" aria-label=${t.differs}>${lines.join("\n")}</pre></div>`

export const Creatives = ({ campaign, slots, creatives, isAdmin, reload }) => {
  const { dialog, ask, close } = useDialog()
  const [removed, showRemoved] = useState([])
  const done = async (text, lines = []) => {
    await reload()
    close()
    showRemoved(lines)
    announce(lines.length > 0 ? t.savedPartly : text)
  }
  const Asked = dialog && DIALOGS[dialog.action]
  const add = isAdmin && html`<p><button type="button" onClick=${() => ask({ action: "add" })}>${t.add}</button></p>`
  return html`<section><h2>${t.title}</h2><p>${t.hint}</p><${Removed} lines=${removed} />
    ${creatives.length === 0 ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p>${add}<//>` : html`
      <${Table} caption=${t.title} columns=${[...t.columns, texts.parts.actionColumn]} isStacked=${true}>${creatives.map(creative => html`
        <${Row} key=${creative.id} creative=${creative} slots=${slots} isAdmin=${isAdmin} ask=${ask} />`)}<//>${add}`}
    ${Asked && html`<${Asked} campaign=${campaign} creative=${dialog.creative} slots=${slots} isLast=${creatives.length === 1}
      onDone=${done} onReload=${reload} onClose=${close} />`}</section>`
}
