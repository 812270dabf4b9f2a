// The attributes that members of the organization can have.
import { call, get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useAction, useList } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { html, useState } from "../lib/view.js"
import { Badge, Dialog, ErrorBox, Field, Loaded, More, SelectField, Table, TextField, Title } from "../ui/parts.js"

const t = texts.attributes
const TYPES = Object.entries(t.types)
const hasChoices = type => type === "single_choice" || type === "multi_choice"

/** The choices of a text area: one a line, each once. @param {string} text */
export const choicesIn = text => [...new Set(text.split("\n").map(line => line.trim()).filter(Boolean))]

const Choices = ({ value, error, onInput }) => html`<${Field} label=${t.choices} hint=${t.choicesHint} error=${error}>${attributes => html`
  <textarea ...${attributes} rows="5" required value=${value} onInput=${event => onInput(event.target.value)}></textarea>`}<//>`

/**
 * record: of the attribute to change; without one, a new one.
 * @param {{ record?: Api.Attribute, onDone: () => void, onClose: () => void }} props
 */
const EditAttribute = ({ record, onDone, onClose }) => {
  const [key, setKey] = useState(record?.key ?? "")
  const [label, setLabel] = useState(record?.label ?? "")
  const [type, setType] = useState(record?.type ?? "text")
  const [choices, setChoices] = useState((record?.choices ?? []).join("\n"))
  const [isEnabled, setEnabled] = useState(record?.enabled ?? true)
  const saving = useAction()
  const submit = event => {
    event.preventDefault()
    saving.run(async () => {
      const body = { type, enabled: isEnabled, ...(label.trim() ? { label } : {}), ...(hasChoices(type) ? { choices: choicesIn(choices) } : {}) }
      await call("PUT", `/v1/attributes/${encodeURIComponent(key.trim())}`, { body })
      onDone()
    })
  }
  const faults = saving.error?.fields ?? {}
  return html`<${Dialog} title=${record ? t.changeTitle(record.label) : t.add} onClose=${onClose}><form onSubmit=${submit}>
    ${!record && html`<${TextField} label=${t.key} hint=${t.keyHint} required maxlength="64" value=${key} onInput=${setKey} error=${faults.key} />`}
    <${TextField} label=${t.label} hint=${t.labelHint} maxlength="255" value=${label} onInput=${setLabel} error=${faults.label} />
    ${record?.starter ? null : html`<${SelectField} label=${t.type} hint=${record ? t.typeHint : undefined} value=${type} onChange=${setType} options=${TYPES} error=${faults.type} />`}
    ${hasChoices(type) && html`<${Choices} value=${choices} onInput=${setChoices} error=${faults.choices} />`}
    <p><label class="check"><input type="checkbox" checked=${isEnabled} onChange=${event => setEnabled(event.target.checked)} /> ${t.enabled}</label></p>
    <p class="hint">${t.enabledHint}</p>
    <${ErrorBox} error=${saving.error} known=${{ INVALID_STATE: saving.error?.details?.reason }} />
    <div class="actions"><button class="primary" disabled=${saving.isBusy}>${texts.parts.save}</button>
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div></form><//>`
}

export default ({ role }) => {
  const isAdmin = role !== "viewer"
  const list = useList((cursor, signal) => get("/v1/attributes", { cursor, limit: 100 }, signal), "attributes", [])
  const [edited, edit] = useState(null)
  const done = () => {
    edit(null)
    announce(t.saved)
    list.reload()
  }
  return html`<${Title} text=${t.title} actions=${isAdmin && html`<button type="button" class="primary" onClick=${() => edit({})}>${t.add}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${list}>${() => html`
      <${Table} caption=${t.title} columns=${isAdmin ? [...t.columns, texts.keys.actionColumn] : t.columns}>${list.items.map(record => html`<tr key=${record.key}>
        <th scope="row">${record.label}</th><td><code>${record.key}</code></td><td>${t.types[record.type] ?? record.type}</td>
        <td>${record.choices.join(", ") || "–"}</td>
        <td><${Badge} kind=${record.enabled ? "good" : "plain"}>${record.enabled ? t.on : t.off}<//></td>
        ${isAdmin && html`<td><button type="button" class="small" aria-label=${`${t.change}: ${record.label}`} onClick=${() => edit({ record })}>${t.change}</button></td>`}</tr>`)}<//>
      <${More} list=${list} />`}<//>
    ${edited && html`<${EditAttribute} record=${edited.record} onDone=${done} onClose=${() => edit(null)} />`}`
}
