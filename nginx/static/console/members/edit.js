// The form that changes a member. If-Match rejects it if another admin has changed the member since it was read.
import { useConflict } from "../lib/conflict.js"
import { callExactly } from "../lib/exact.js"
import { faultsAt, otherFaults } from "../lib/faults.js"
import { useFaultyField } from "../lib/faulty.js"
import { useAction, useLoad } from "../lib/load.js"
import { own } from "../lib/own.js"
import { allAttributes, valueIn } from "../lib/registry.js"
import { texts } from "../lib/texts.js"
import { member as t } from "../lib/texts_members.js"
import { useTyped } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { Dialog, ErrorBox, Group, Loaded, SelectField, TextField } from "../ui/parts.js"
import { nameOf } from "./parts.js"

export const FIELDS = ["first_name", "last_name", "display_name", "external_id", "locale", "country", "dob"]

/** What differs between the record and the form, as the body of a PATCH. */
export const changesOf = (member, fields, attributes, registry) => {
  const body = Object.fromEntries(FIELDS.filter(name => (member[name] ?? "") !== fields[name]).map(name => [name, fields[name] || null]))
  const changed = registry.map(({ key, type }) => [key, valueIn(type, own(attributes, key) ?? "")])
    .filter(([key, value]) => JSON.stringify(own(member.attributes, key) ?? "") !== JSON.stringify(value))
  if (changed.length) body.attributes = Object.fromEntries(changed.map(([key, value]) => [key, value === "" ? null : value]))
  return body
}

/** What the form shows of a member's attributes first. */
export const attributesOf = (member, registry) => Object.fromEntries(registry.map(({ key }) => [key, own(member.attributes, key) ?? ""]))

const BOOLEANS = [["", t.empty], ["true", texts.parts.yes], ["false", texts.parts.no]]

/** The choices of an attribute, then stored values that are none of them: [value, text]. */
export const choicesOf = (choices, stored) => [...choices.map(one => [one, one]),
  ...stored.filter(one => !choices.includes(one)).map(one => [one, texts.parts.notOffered(one)])]

const MultiChoice = ({ attribute, value, error, onChange }) => {
  const [choices] = useState(() => choicesOf(attribute.choices, value || []))
  const chosen = new Set(value || [])
  const toggle = choice => {
    if (!chosen.delete(choice)) chosen.add(choice)
    onChange(chosen.size ? choices.map(([one]) => one).filter(one => chosen.has(one)) : "")
  }
  return html`<${Group} legend=${attribute.label} error=${error}><div class="actions">${choices.map(([choice, text]) => html`
    <label class="check"><input type="checkbox" checked=${chosen.has(choice)} onChange=${() => toggle(choice)} /> ${text}</label>`)}</div><//>`
}

/** The control for an attribute's type. The value is as the API has it, or typed text; "" is a missing value. */
export const AttributeField = ({ attribute, value, error, onChange }) => {
  const { type, label, choices } = attribute
  if (type === "multi_choice") return html`<${MultiChoice} attribute=${attribute} value=${value} error=${error} onChange=${onChange} />`
  if (type === "single_choice") {
    return html`<${SelectField} label=${label} error=${error} value=${value} onChange=${onChange}
      options=${[["", t.empty], ...choices.map(one => [one, one])]} />`
  }
  if (type === "boolean") {
    return html`<${SelectField} label=${label} error=${error} value=${String(value)} options=${BOOLEANS}
      onChange=${onChange} />`
  }
  return html`<${TextField} label=${label} error=${error} type=${type === "date" ? "date" : "text"} value=${String(value)}
    inputmode=${type === "number" ? "decimal" : undefined} onInput=${onChange} />`
}

/** Whether a path names an attribute, or one of its choices. */
const isAttribute = (path, key) => path.replace(/\[\d+\]$/, "") === `attributes.${key}`

/** The message about an attribute, or about its choices. */
export const faultOf = (error, key) => faultsAt(error, `attributes.${key}`)

/** Whether the message about a path is next to its field. registry: the attributes of the form. @param {string} path @param {any[]} registry */
export const isShown = (path, registry) => FIELDS.includes(path) || registry.some(({ key }) => isAttribute(path, key))

/** What the form of a member, or its page, calls the value at a path. attributes: of the organization. @param {string} path @param {any[]} attributes */
export const nameOfPath = (path, attributes) => own(texts.member.fields, path) ?? attributes.find(({ key }) => isAttribute(path, key))?.label

const Form = ({ member, etag, attributes: all, registry, onDone, onClose, onReload }) => {
  const [fields, setFields] = useState(Object.fromEntries(FIELDS.map(name => [name, member[name] ?? ""])))
  const [attributes, setAttributes] = useState(attributesOf(member, registry))
  const saving = useAction()
  useTyped([fields, attributes], saving.isBusy)
  useFaultyField(saving.error, "dialog")
  const submit = event => {
    event.preventDefault()
    saving.run(async () => {
      await callExactly("PATCH", `/v1/users/${member.id}`, { body: changesOf(member, fields, attributes, registry), headers: { "If-Match": etag } })
      await onDone(t.changed)
    })
  }
  const messages = useConflict(saving.error, t.conflict, member)
  const isConflict = saving.error?.code === "PRECONDITION_FAILED"
  return html`<form onSubmit=${submit}>
    <p>${t.sameAddress(member.email)}</p>
    <div class="columns">${FIELDS.map(name => html`<${TextField} label=${texts.member.fields[name]} hint=${t.hints[name]} type=${name === "dob" ? "date" : "text"}
      value=${fields[name]} error=${saving.error?.fields?.[name]} onInput=${text => setFields({ ...fields, [name]: text })} />`)}</div>
    ${registry.length > 0 && html`<h3>${t.attributes}</h3>`}
    <div class="columns">${registry.map(attribute => html`<${AttributeField} attribute=${attribute} value=${attributes[attribute.key]}
      error=${faultOf(saving.error, attribute.key)} onChange=${value => setAttributes({ ...attributes, [attribute.key]: value })} />`)}</div>
    <${ErrorBox} error=${otherFaults(saving.error, path => isShown(path, registry), path => nameOfPath(path, all))} known=${messages} />
    <div class="actions">${isConflict
      ? html`<button type="button" class="primary" onClick=${() => { onClose(); onReload() }}>${texts.parts.showCurrent}</button>`
      : html`<button class="primary" disabled=${saving.isBusy}>${texts.parts.save}</button>`}
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div>
  </form>`
}

export const EditMember = props => {
  const [read] = useState({ member: props.member, etag: props.etag }) // the ETag of the values with which the form begins
  const registry = useLoad(allAttributes, [])
  return html`<${Dialog} isWide=${true} title=${t.editTitle(nameOf(props.member))} onClose=${props.onClose}><${Loaded} state=${registry}>${attributes => html`
    <${Form} ...${props} ...${read} attributes=${attributes} registry=${attributes.filter(attribute => attribute.enabled)} />`}<//><//>`
}
