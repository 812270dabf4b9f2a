// The form of an attribute, for the list and for the columns of an import.
import { IF_NEW, call, ifMatch } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { distinct } from "../lib/composed.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { attributes as t } from "../lib/texts_attributes.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Field, SelectField, TextField } from "../ui/parts.js"

const TYPES = Object.entries(t.types)
const SHOWN = ["key", "label", "type", "choices"] // with messages next to their fields
const hasChoices = type => type === "single_choice" || type === "multi_choice"

/** The choices of a text area: one a line, each once. @param {string} text */
export const choicesIn = text => distinct(text.split("\n"))

/**
 * The body of the call. The API keeps the label of a call without one, so an empty label of a known attribute is sent as its key.
 * @param {{ type: string, label: string, choices: string, isEnabled: boolean }} fields @param {{ key: string }} [record] of the attribute to change
 */
export const bodyOf = ({ type, label, choices, isEnabled }, record) => {
  const named = trimmed(label) ? label : record?.key
  return { type, enabled: isEnabled, ...(named && { label: named }), ...(hasChoices(type) && { choices: choicesIn(choices) }) }
}

const Choices = ({ value, error, onInput }) => html`<${Field} label=${t.choices} hint=${t.choicesHint} error=${error}>${attributes => html`
  <textarea ...${attributes} rows="5" required value=${value} onInput=${event => onInput(event.target.value)}></textarea>`}<//>`

/**
 * record: of the attribute to change; without one, a new one. first: what the form of a new one begins with.
 * onReload: shows the attributes as they are after a conflict.
 */
export const EditAttribute = ({ record, first = {}, onDone, onClose, onReload }) => {
  const shown = record ?? { label: "", key: "", type: "text", choices: [], enabled: true, ...first }
  const [key, setKey] = useState(shown.key)
  const [label, setLabel] = useState(shown.label)
  const [type, setType] = useState(shown.type)
  const [choices, setChoices] = useState(shown.choices.join("\n"))
  const [isEnabled, setEnabled] = useState(shown.enabled)
  const saving = useAction()
  const submit = () => saving.run(async () => {
    const body = bodyOf({ type, label, choices, isEnabled }, record)
    const { data } = await call("PUT", `/v1/attributes/${encodeURIComponent(trimmed(key))}`, { body, headers: record ? ifMatch(record) : IF_NEW })
    await onDone(data)
  })
  const faults = saving.error?.fields ?? {}
  return html`<${FormDialog} title=${record ? t.changeTitle(record.label) : t.add} action=${texts.parts.save} values=${[key, label, type, choices, isEnabled]} record=${record} running=${saving}
    isShown=${path => SHOWN.includes(path)} known=${{ INVALID_STATE: saving.error?.details?.reason, ...(!record && { PRECONDITION_FAILED: t.taken }) }} submit=${submit} onClose=${onClose} onReload=${record && onReload}>
    ${!record && html`<${TextField} label=${t.key} hint=${t.keyHint} required maxlength="64" value=${key} onInput=${setKey} error=${faults.key} />`}
    <${TextField} label=${t.label} hint=${t.labelHint} maxlength="255" value=${label} onInput=${setLabel} error=${faults.label} />
    ${record?.starter ? null : html`<${SelectField} label=${t.type} hint=${record ? t.typeHint : undefined} value=${type} onChange=${setType} options=${TYPES} error=${faults.type} />`}
    ${hasChoices(type) && html`<${Choices} value=${choices} onInput=${setChoices} error=${faults.choices} />`}
    <p><label class="check"><input type="checkbox" checked=${isEnabled} onChange=${event => setEnabled(event.target.checked)} /> ${t.enabled}</label></p>
    <p class="hint">${t.enabledHint}</p><//>`
}
