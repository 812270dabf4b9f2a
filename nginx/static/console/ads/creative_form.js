// The form of a creative, for a new one and for changes.
import { call, ifMatch } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { linesOnlyIn } from "../articles/parts.js"
import { useAction } from "../lib/load.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { creatives as t } from "../lib/texts_ads.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Field, SelectField, TextField } from "../ui/parts.js"
import { sizeOf } from "./parts.js"

const OTHER = "other"

/** The sizes of a campaign's slots with their names: [["728x90", "728 × 90: Top"]]. */
export const sizesOf = slots => {
  const names = new Map()
  for (const slot of slots) {
    const size = `${slot.width}x${slot.height}`
    names.set(size, [...(names.get(size) ?? []), slot.name])
  }
  return [...names].map(([size, of]) => [size, t.sizeOf(...size.split("x"), of)])
}

/**
 * The form of a record; without one, an empty form with the first of the sizes.
 * @param {Api.AdCreative | undefined} creative @param {string[][]} sizes of sizesOf()
 */
export const creativeFieldsOf = (creative, sizes) => {
  const size = creative ? `${creative.width}x${creative.height}` : sizes[0]?.[0] ?? OTHER
  const [width, height] = size === OTHER ? ["", ""] : size.split("x")
  return {
    kind: creative?.kind ?? "image", size: sizes.some(([one]) => one === size) ? size : OTHER, width, height,
    image_url: creative?.image_url ?? "", html: creative?.html ?? "", alt: creative?.alt ?? "", landing_url: creative?.landing_url ?? "",
  }
}

/** The body of a POST: only the content of its kind. */
export const newCreativeOf = fields => {
  const [width, height] = fields.size === OTHER ? [fields.width, fields.height] : fields.size.split("x")
  const content = fields.kind === "image" ? { image_url: fields.image_url } : { html: fields.html }
  return { kind: fields.kind, width: Number(width), height: Number(height), landing_url: fields.landing_url, ...content,
    ...(trimmed(fields.alt) ? { alt: fields.alt } : {}) }
}

/** What differs between the record and the form, as the body of a PATCH. */
export const creativeChangesOf = (creative, fields) => {
  const after = { image_url: null, html: null, alt: null, ...newCreativeOf(fields) }
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => creative[name] !== value))
}

/** The paths whose messages are next to their fields. */
const shownIn = fields => ["landing_url", ...(fields.kind === "image" ? ["image_url", "alt"] : ["html"]), ...(fields.size === OTHER ? ["width", "height"] : [])]

const Content = ({ fields, set, faults }) => (fields.kind === "image"
  ? html`<${TextField} label=${t.imageUrl} hint=${t.imageUrlHint} type="url" required maxlength="2048" value=${fields.image_url}
      error=${faults.image_url} onInput=${set("image_url")} />
    <${TextField} label=${t.alt} hint=${t.altHint} maxlength="255" value=${fields.alt} error=${faults.alt} onInput=${set("alt")} />`
  : html`<${Field} label=${t.html} hint=${t.htmlHint} error=${faults.html}>${attributes => html`
      <textarea ...${attributes} class="code" rows="8" required value=${fields.html} onInput=${event => set("html")(event.target.value)}></textarea>`}<//>`)

const Size = ({ fields, set, sizes, faults }) => html`
  <${SelectField} label=${t.size} value=${fields.size} options=${[...sizes, [OTHER, t.otherSize]]} onChange=${set("size")} />
  ${fields.size === OTHER && html`<div class="columns">${["width", "height"].map(name => html`<${TextField} key=${name} label=${t[name]} hint=${t.pixels}
    type="number" min="1" max="10000" required value=${fields[name]} error=${faults[name]} onInput=${set(name)} />`)}</div>`}`

export const CreativeForm = ({ campaign, creative, slots, onDone, onReload, onClose }) => {
  const sizes = sizesOf(slots)
  const [fields, setFields] = useState(creativeFieldsOf(creative, sizes))
  const saving = useAction()
  const create = useCreate()
  const set = name => value => setFields({ ...fields, [name]: value })
  const submit = () => saving.run(async () => {
    const saved = creative
      ? (await call("PATCH", `/console/v1/ads/creatives/${creative.id}`, { body: creativeChangesOf(creative, fields), headers: ifMatch(creative) })).data
      : await create("/console/v1/ads/creatives", { campaign_id: campaign.id, ...newCreativeOf(fields) })
    await onDone(creative ? t.saved : t.added, saved.kind === "html" ? linesOnlyIn(fields.html, saved.html) : [])
  })
  const faults = saving.error?.fields ?? {}
  return html`<${FormDialog} title=${creative ? t.editTitle(sizeOf(creative)) : t.add} action=${creative ? texts.parts.save : t.addNow} isWide=${true}
    values=${fields} record=${creative} running=${saving} known=${{ ...t.conflict, INVALID_STATE: saving.error?.details?.reason }}
    isShown=${path => shownIn(fields).includes(path)} submit=${submit} onReload=${creative && onReload} onClose=${onClose}>
    <${SelectField} label=${t.kind} value=${fields.kind} options=${t.kindOptions} onChange=${set("kind")} />
    <${Size} fields=${fields} set=${set} sizes=${sizes} faults=${faults} /><${Content} fields=${fields} set=${set} faults=${faults} />
    <${TextField} label=${t.landing} hint=${t.landingHint} type="url" required maxlength="2048" value=${fields.landing_url}
      error=${faults.landing_url} onInput=${set("landing_url")} /><//>`
}
