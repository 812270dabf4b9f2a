// The dialog that adds one member. The API attaches a known person, and fills the empty values of a member.
import { announce } from "../lib/announce.js"
import { useCreate } from "../lib/create.js"
import { jsonOf } from "../lib/exact.js"
import { useFaultyField } from "../lib/faulty.js"
import { useAction, useLoad } from "../lib/load.js"
import { own } from "../lib/own.js"
import { allAttributes, valueIn } from "../lib/registry.js"
import { useOpen } from "../lib/router.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { addMember as t, member } from "../lib/texts_members.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Dialog, Loaded, TextField } from "../ui/parts.js"
import { AttributeField, FIELDS, faultOf, isShown, nameOfPath } from "./edit.js"
import { nameOf } from "./parts.js"

/** The body of the call: what was filled in. @param {Record<string, string>} fields @param {Record<string, any>} attributes @param {any[]} registry */
export const memberOf = (fields, attributes, registry) => {
  const body = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, trimmed(text)]).filter(([name, text]) => text || name === "email"))
  const given = registry.map(({ key, type }) => [key, valueIn(type, own(attributes, key) ?? "")]).filter(([, value]) => value !== "")
  return given.length ? { ...body, attributes: Object.fromEntries(given) } : body
}

/** attributes: all; registry: those that are enabled. */
const Form = ({ attributes: all, registry, onMerged, onClose }) => {
  const [fields, setFields] = useState(Object.fromEntries(["email", ...FIELDS].map(name => [name, ""])))
  const [attributes, setAttributes] = useState({})
  const adding = useAction()
  const create = useCreate()
  const open = useOpen()
  useFaultyField(adding.error, "dialog")
  const submit = () => adding.run(async () => {
    const made = await create("/v1/users", undefined, { json: jsonOf(memberOf(fields, attributes, registry)) })
    if (made.outcome === "merged") return onMerged(made)
    announce(t.added(nameOf(made)))
    open(["members", made.id])
  })
  const field = (name, rest = {}) => html`<${TextField} label=${texts.member.fields[name]} hint=${member.hints[name]} type=${name === "dob" ? "date" : "text"}
    value=${fields[name]} error=${adding.error?.fields?.[name]} onInput=${text => setFields({ ...fields, [name]: text })} ...${rest} />`
  return html`<${FormDialog} title=${t.title} action=${t.add} isWide=${true} values=${[fields, attributes]} running=${adding}
    isShown=${path => path === "email" || isShown(path, registry)} nameOf=${path => nameOfPath(path, all)} submit=${submit} onClose=${onClose}>
    <p>${t.hint}</p>
    ${field("email", { required: true, isFirst: true, type: "email", autocomplete: "off", maxlength: "254" })}
    <div class="columns">${FIELDS.map(name => field(name))}</div>
    ${registry.length > 0 && html`<h3>${member.attributes}</h3>`}
    <div class="columns">${registry.map(attribute => html`<${AttributeField} attribute=${attribute} value=${own(attributes, attribute.key) ?? ""}
      error=${faultOf(adding.error, attribute.key)} onChange=${value => setAttributes({ ...attributes, [attribute.key]: value })} />`)}</div><//>`
}

const Merged = ({ member, onClose }) => {
  const open = useOpen()
  return html`<${Dialog} title=${t.mergedTitle(nameOf(member))} onClose=${onClose}><p>${t.merged(member.email)}</p>
    <div class="actions"><button type="button" class="primary" onClick=${() => open(["members", member.id])}>${t.show}</button>
      <button type="button" onClick=${onClose}>${texts.parts.close}</button></div><//>`
}

/** reload: reads the list behind the dialog again. @param {{ reload: () => void, onClose: () => void }} props */
export const AddMember = ({ reload, onClose }) => {
  const registry = useLoad(allAttributes, [])
  const [merged, showMerged] = useState(null)
  const merge = member => {
    showMerged(member)
    reload()
  }
  if (merged) return html`<${Merged} key="merged" member=${merged} onClose=${onClose} />`
  if (!registry.data) return html`<${Dialog} key="loading" title=${t.title} isWide=${true} onClose=${onClose}><${Loaded} state=${registry} /><//>`
  return html`<${Form} key="form" attributes=${registry.data} registry=${registry.data.filter(attribute => attribute.enabled)} onMerged=${merge} onClose=${onClose} />`
}
