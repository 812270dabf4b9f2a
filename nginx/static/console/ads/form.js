// The form of a campaign, for a new one and for changes.
import { useConflict } from "../lib/conflict.js"
import { faultsAt, otherFaults } from "../lib/faults.js"
import { texts } from "../lib/texts.js"
import { ads as t } from "../lib/texts_ads.js"
import { html, useState } from "../lib/view.js"
import { ErrorBox, Field, Group, SelectField, TextField } from "../ui/parts.js"
import { listedIn } from "./fields.js"
import { sizeOf } from "./parts.js"
import { Targets } from "./targets.js"

const Slots = ({ slots, chosen, error, onChange }) => {
  const toggle = id => onChange(chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id])
  return html`<${Group} legend=${t.fields.slots} error=${error}><ul class="choices">${slots.map(slot => html`<li key=${slot.id}><label class="check">
      <input type="checkbox" checked=${chosen.includes(slot.id)} onChange=${() => toggle(slot.id)} />
      <span><bdi>${slot.name}</bdi> <span class="faint">${slot.slug}, ${sizeOf(slot)}</span></span></label></li>`)}</ul><//>`
}

const Schedule = ({ fields, set, error, isNew }) => html`<fieldset><legend class="part">${t.schedule}</legend><div class="columns">
  <${TextField} label=${t.fields.starts} hint=${isNew ? t.hints.starts : t.hints.startsEdit} type="datetime-local" required=${!isNew}
    value=${fields.starts} error=${error?.fields?.starts_at} onInput=${set("starts")} />
  <${TextField} label=${t.fields.ends} hint=${t.hints.ends} type="datetime-local" value=${fields.ends} error=${error?.fields?.ends_at} onInput=${set("ends")} />
  <${TextField} label=${t.fields.daily} hint=${t.hints.daily} type="number" min="1" max="1000000000" step="1" value=${fields.daily}
    error=${error?.fields?.daily_impressions} onInput=${set("daily")} />
  <${TextField} label=${t.fields.cap} hint=${t.hints.cap} type="number" min="1" max="1000" step="1" value=${fields.cap}
    error=${error?.fields?.frequency_cap} onInput=${set("cap")} />
  <${TextField} label=${t.fields.weight} hint=${t.hints.weight} type="number" min="1" max="1000" step="1" required value=${fields.weight}
    error=${error?.fields?.weight} onInput=${set("weight")} /></div></fieldset>`

const Targeting = ({ fields, sent, set, registry, error }) => {
  const faults = name => faultsAt(error, `targeting.${name}`, listedIn[name](sent[name]))
  return html`<fieldset><legend class="part">${t.targeting}</legend><p class="hint">${t.targetingHint}</p><div class="columns">
    <${TextField} label=${t.fields.countries} hint=${t.hints.countries} value=${fields.countries} error=${faults("countries")} onInput=${set("countries")} />
    <${TextField} label=${t.fields.locales} hint=${t.hints.locales} value=${fields.locales} error=${faults("locales")} onInput=${set("locales")} />
    <${Field} label=${t.fields.tags} hint=${t.hints.tags} error=${faults("tags")}>${attributes => html`
      <textarea ...${attributes} rows="3" value=${fields.tags} onInput=${event => set("tags")(event.target.value)}></textarea>`}<//></div>
    <${Targets} targets=${fields.targets} registry=${registry} error=${error} onChange=${set("targets")} /></fieldset>`
}

const isField = path => /^(name|weight|starts_at|ends_at|daily_impressions|frequency_cap|(slot_ids|targeting\.(countries|locales|tags))(\[\d+\])?)$/.test(path)

/** onReload: shows the current record after a conflict. mayChange: without it, the form only keeps what was typed. */
export const CampaignForm = ({ fields, setFields, slots, registry, saving, action, isNew, record, mayChange, onSubmit, onReload, cancel }) => {
  const set = name => value => setFields({ ...fields, [name]: value })
  const [sent, keep] = useState(fields) // the faults of a reply have its indexes
  const error = saving.error ?? (mayChange ? null : { code: "FORBIDDEN" })
  const isShown = path => isField(path) || sent.targets.some(([key]) => path === `targeting.attributes.${key}`)
  const messages = useConflict(error, { ...t.conflict, INVALID_STATE: error?.details?.reason }, record)
  const submit = event => {
    event.preventDefault()
    keep(fields)
    onSubmit()
  }
  return html`<form onSubmit=${submit}>
    <${TextField} label=${t.fields.name} hint=${t.hints.name} required maxlength="255" value=${fields.name} error=${error?.fields?.name} onInput=${set("name")} />
    <${Slots} slots=${slots} chosen=${fields.slot_ids} error=${sent.slot_ids.length > 0 ? faultsAt(error, "slot_ids") : faultsAt(error, "slot_ids") && t.noSlot} onChange=${set("slot_ids")} />
    ${isNew && html`<${SelectField} label=${t.fields.status} hint=${t.hints.status} value=${fields.status} options=${t.statuses} onChange=${set("status")} />`}
    <${Schedule} fields=${fields} set=${set} error=${error} isNew=${isNew} />
    <${Targeting} fields=${fields} sent=${sent} set=${set} registry=${registry} error=${error} />
    <${ErrorBox} error=${otherFaults(error, isShown)} known=${messages} />
    <div class="actions">${onReload && error?.code === "PRECONDITION_FAILED"
      ? html`<button type="button" class="primary" onClick=${onReload}>${texts.parts.showCurrent}</button>`
      : mayChange && html`<button class="primary" disabled=${saving.isBusy}>${action}</button>`}
      <a class="button" href=${cancel}>${texts.parts.cancel}</a></div></form>`
}
