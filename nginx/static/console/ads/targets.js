// The rows of a campaign's targeting by attributes: an attribute and the value that the member must have.
import { texts } from "../lib/texts.js"
import { ads as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { SelectField, TextField } from "../ui/parts.js"

const BOOLEANS = [["", t.chooseValue], ["true", texts.parts.yes], ["false", texts.parts.no]]

const Value = ({ attribute, label, value, error, onChange }) => {
  const { type, choices = [] } = attribute
  if (type === "boolean") return html`<${SelectField} label=${label} error=${error} value=${String(value)} options=${BOOLEANS} onChange=${onChange} />`
  if (choices.length > 0) {
    const options = [["", t.chooseValue], ...choices.map(one => [one, one])]
    return html`<${SelectField} label=${label} error=${error} value=${value} options=${options} onChange=${onChange} />`
  }
  return html`<${TextField} label=${label} error=${error} type=${type === "date" ? "date" : "text"} value=${String(value)}
    inputmode=${type === "number" ? "decimal" : undefined} onInput=${onChange} />`
}

/** targets: pairs of key and value, which is typed text or as the API has it. registry: the enabled attributes. */
export const Targets = ({ targets, registry, error, onChange }) => {
  const change = (index, pair) => onChange(targets.map((one, at) => (at === index ? pair : one)))
  const options = key => registry.filter(one => one.key === key || !targets.some(([used]) => used === one.key))
    .map(one => [one.key, one.label])
  const free = registry.find(one => !targets.some(([used]) => used === one.key))
  return html`<fieldset><legend>${t.fields.attributes}</legend><p class="hint">${t.hints.attributes}</p>
    ${targets.map(([key, value], index) => html`<div class="rowed" key=${index}>
      <${SelectField} label=${t.attribute(index + 1)} value=${key} options=${options(key)} onChange=${changed => change(index, [changed, ""])} />
      <${Value} attribute=${registry.find(one => one.key === key) ?? {}} label=${t.value(index + 1)} value=${value}
        error=${error?.fields?.[`targeting.attributes.${key}`]} onChange=${changed => change(index, [key, changed])} />
      <button type="button" class="small" aria-label=${t.removeValue(index + 1)} onClick=${() => onChange(targets.filter((_, at) => at !== index))}>${t.removeShort}</button></div>`)}
    ${free && html`<button type="button" class="small" onClick=${() => onChange([...targets, [free.key, ""]])}>${t.addAttribute}</button>`}</fieldset>`
}
