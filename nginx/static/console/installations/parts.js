// Parts that the screens of installations use.
import { call } from "../lib/api.js"
import { isNumber } from "../lib/json.js"
import { useLoad } from "../lib/load.js"
import { own } from "../lib/own.js"
import { trimmed } from "../lib/text.js"
import { installations as t } from "../lib/texts_modules.js"
import { html } from "../lib/view.js"
import { Badge, Field, SelectField, TextField } from "../ui/parts.js"
import { emittedIn } from "../webhooks/events.js"
import { HIDDEN, propertiesOf } from "./config.js"

const KINDS = { enabled: "good", disabled: "plain", error: "bad" }

export const InstallationBadge = ({ status }) => html`<${Badge} kind=${KINDS[status] ?? "plain"}>${t.states[status] ?? status}<//>`

/** The settings of a version. `name`: of the version; `emitted`: the event types that it reports. */
export const readVersion = async (module, version, signal) => {
  const { data } = await call("GET", `/v1/modules/${module}/versions/${version}`, { asText: true, signal })
  const { version: name, manifest } = JSON.parse(data)
  return { properties: propertiesOf(data), name, emitted: emittedIn(manifest) }
}

/** The settings of the version that a form has chosen; null while they load, and without a version. */
export const useProperties = (module, version) => {
  const state = useLoad(signal => (version ? readVersion(module, version, signal) : Promise.resolve(null)), [module, version])
  return { ...state, data: state.isLoading ? null : state.data }
}

const labelOf = property => `${property.name} (${property.isRequired ? t.required : t.optional})`

const Area = ({ label, hint, error, value, onInput }) => html`<${Field} label=${label} hint=${hint} error=${error}>${attributes => html`
  <textarea ...${attributes} rows="2" autocomplete="off" spellcheck=${false} value=${value} onInput=${event => onInput(event.target.value)}></textarea>`}<//>`

/** The API's message about a setting; for text in a field of numbers, what to enter. */
const faultOf = ({ name, type }, text, faults) => {
  const fault = faults[`config.${name}`]
  return fault && type === "number" && text && !isNumber(trimmed(text)) ? t.notNumber : fault
}

/** The control of a setting. isStored: a secret has a value, which is not shown; isRemoved: it will be deleted. */
const Setting = ({ property, value, error, isStored, isRemoved, onInput, onRemove }) => {
  const label = labelOf(property)
  const choices = property.type === "boolean" && property.choices.length === 0 ? ["true", "false"] : property.choices
  /** @type {Record<string, string>} */
  const named = property.type === "boolean" ? { true: t.yes, false: t.no } : {}
  if (choices.length) {
    const options = [["", t.noValue], ...choices.map(one => [one, own(named, one) ?? one])]
    return html`<${SelectField} label=${label} error=${error} value=${value} options=${options} onChange=${onInput} />`
  }
  if (property.isSecret) {
    return html`<div><${Area} label=${label} hint=${isStored ? t.secretKept : t.secret} error=${error} value=${value} onInput=${onInput} />
      ${isStored && !property.isRequired && html`<p><label class="check"><input type="checkbox" checked=${isRemoved} onChange=${onRemove} /> ${t.secretRemove}</label></p>`}</div>`
  }
  if (property.type === "string" && value.includes("\n")) return html`<${Area} label=${label} error=${error} value=${value} onInput=${onInput} />`
  const hint = value === HIDDEN ? t.wasSecret : property.type === "number" ? t.number : undefined
  return html`<${TextField} label=${label} hint=${error ? undefined : hint} error=${error} value=${value} onInput=${onInput}
    autocomplete="off" inputmode=${property.type === "number" ? "decimal" : undefined} />`
}

/** Whether the message about a path is next to the field of a setting. */
export const isSetting = properties => path => (properties ?? []).some(({ name }) => path === `config.${name}`)

/** The form of a config: `form` has fields and removed; `change` sets parts of it. */
export const Settings = ({ properties, stored = {}, form, change, faults = {} }) => {
  if (properties.length === 0) return html`<p class="faint">${t.noSettings}</p>`
  const toggle = name => change(before => {
    const removed = new Set(before.removed)
    if (!removed.delete(name)) removed.add(name)
    return { ...before, removed }
  })
  return html`<div class="columns">${properties.map(property => html`<${Setting} key=${property.name} property=${property}
    value=${own(form.fields, property.name) ?? ""} error=${faultOf(property, own(form.fields, property.name), faults)}
    isStored=${property.isSecret && Object.hasOwn(stored, property.name)}
    isRemoved=${form.removed.has(property.name)} onRemove=${() => toggle(property.name)}
    onInput=${text => change(before => ({ ...before, fields: { ...before.fields, [property.name]: text } }))} />`)}</div>`
}
