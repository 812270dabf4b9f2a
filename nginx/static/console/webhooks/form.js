// The dialog of a webhook endpoint: add one, or edit it. The signing secret of a new one is shown once.
import { announce } from "../lib/announce.js"
import { call, get, ifMatch } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction, useLoad } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useState } from "../lib/view.js"
import { FormDialog, SecretDialog } from "../ui/dialogs.js"
import { Field, Loading, Secret, SelectField, TextField } from "../ui/parts.js"
import { EVENT_FAMILIES, MUSTER_EVENTS, emittedIn, typesIn } from "./events.js"
import { pathOf } from "./parts.js"

/** The types that the installed version reports. @returns {Promise<string[]>} */
export const emittedBy = async (installation, signal) => {
  const { manifest } = await get(`/v1/modules/${installation.module_id}/versions/${installation.version_id}`, undefined, signal)
  return emittedIn(manifest)
}

/**
 * @typedef {object} Form of an endpoint
 * @property {string} url
 * @property {string} description
 * @property {Set<string>} chosen the types whose boxes are checked
 * @property {string} others the types without a check box, one a line
 */

/** @param {Api.WebhookEndpoint | null} endpoint null: a new one @param {string[]} emitted types of the module @returns {Form} */
export const formOf = (endpoint, emitted) => {
  const types = endpoint?.subscribed_event_types ?? []
  const boxes = new Set([...MUSTER_EVENTS, ...emitted])
  return { url: endpoint?.url ?? "", description: endpoint?.description ?? "", chosen: new Set(types.filter(one => boxes.has(one))),
    others: types.filter(one => !boxes.has(one)).join("\n") }
}

/**
 * The form of an endpoint with changes. `boxed`: the types of the module that had a box when the changes were made. A type that
 * has got a box since then moves there from the text.
 * @param {Api.WebhookEndpoint | null} endpoint @param {string[]} emitted @param {Partial<Form> & { boxed?: string[] }} changes @returns {Form}
 */
export const formWith = (endpoint, emitted, { boxed = emitted, ...changes }) => {
  const form = { ...formOf(endpoint, emitted), ...changes }
  if (String(boxed) === String(emitted)) return form
  const types = [...form.chosen, ...typesIn(form.others)]
  const boxes = new Set([...MUSTER_EVENTS, ...emitted])
  return { ...form, chosen: new Set(types.filter(one => boxes.has(one))), others: types.filter(one => !boxes.has(one)).join("\n") }
}

export const typesOf = form => [...new Set([...form.chosen, ...typesIn(form.others)])].sort()

/** What differs between the record and the form, as the body of a PATCH. */
export const changesOf = (endpoint, form) => ({
  ...(form.url === endpoint.url ? {} : { url: form.url }),
  ...(form.description === (endpoint.description ?? "") ? {} : { description: form.description || null }),
  ...(String(typesOf(form)) === String([...endpoint.subscribed_event_types].sort()) ? {} : { subscribed_event_types: typesOf(form) }),
})

/** The messages about types, each with its type. types: those that were sent. */
const typeFaults = (fields, types) => Object.entries(fields ?? {}).filter(([path]) => path.startsWith("subscribed_event_types"))
  .map(([path, message]) => [types[Number(/\[(\d+)\]/.exec(path)?.[1])], message])
  .map(([type, message]) => (type ? `“${type}” ${message}` : message)).join(" ")

const isField = path => /^(url|description|subscribed_event_types(\[\d+\])?)$/.test(path)

const Family = ({ name, types, chosen, setChosen }) => {
  const isAll = types.every(type => chosen.has(type))
  const set = (some, isOn) => setChosen(new Set(isOn ? [...chosen, ...some] : [...chosen].filter(type => !some.includes(type))))
  return html`<fieldset class="family"><legend>${name}</legend>
    ${types.length > 1 && html`<label class="check faint"><input type="checkbox" checked=${isAll} onChange=${event => set(types, event.target.checked)} /> <span>${t.all}<span class="hidden">${t.allOf(name)}</span></span></label>`}
    ${types.map(type => html`<label class="check"><input type="checkbox" checked=${chosen.has(type)} onChange=${event => set([type], event.target.checked)} /> <code>${type}</code></label>`)}</fieldset>`
}

const Events = ({ module, emitted, form, change, error }) => html`<h3>${t.events}</h3>
  <div class="columns">${EVENT_FAMILIES.map(([family, types]) => html`<${Family} name=${t.families[family]} types=${types} chosen=${form.chosen} setChosen=${chosen => change({ chosen })} />`)}
    ${emitted.length > 0 && html`<${Family} name=${t.ownFamily(module?.name ?? "")} types=${emitted} chosen=${form.chosen} setChosen=${chosen => change({ chosen })} />`}</div>
  <${Field} label=${t.otherTypes} hint=${t.otherTypesHint} error=${error}>${attributes => html`
    <textarea ...${attributes} rows="2" spellcheck=${false} value=${form.others} onInput=${event => change({ others: event.target.value })}></textarea>`}<//>`

const Fields = ({ form, change, faults, children }) => html`
  <${TextField} label=${t.url} hint=${t.urlHint} required maxlength="2048" inputmode="url" placeholder="https://" value=${form.url} error=${faults.url} onInput=${url => change({ url })} />
  <${TextField} label=${t.description} hint=${t.descriptionHint} maxlength="255" value=${form.description} error=${faults.description}
    onInput=${description => change({ description })} />${children}`

/**
 * The form's state, and a function that changes parts of it. The boxes are those of the chosen module.
 * @param {Api.WebhookEndpoint | null} endpoint @param {string[]} emitted
 * @returns {[Form, (part: Partial<Form>) => void]}
 */
const useForm = (endpoint, emitted) => {
  const [changes, set] = useState({})
  const form = formWith(endpoint, emitted, changes)
  return [form, part => set({ ...form, boxed: emitted, ...part })]
}

/** The signing secret of a new endpoint, or the rotated one. @param {{ made: { url: string, signing_secret: string }, onClose: () => void }} props */
export const Made = ({ made, onClose }) => html`<${SecretDialog} title=${t.madeTitle} hint=${t.madeHint} stored=${t.stored} onClose=${onClose}>
  <${Secret} label=${made.url} value=${made.signing_secret} /><//>`

/**
 * choices: installations that are not disabled, each with its module. emitted: the types of the first one's module, known before
 * the dialog opens, because boxes that appear later would move what is clicked. Without those of another module, it has no buttons.
 */
export const AddEndpoint = ({ choices, emitted: first, onDone, onClose }) => {
  const [id, choose] = useState(choices[0].id)
  const [made, show] = useState(null)
  const [hasNoType, complain] = useState(false)
  const [sent, keep] = useState([]) // types: the faults of a reply have their indexes
  const adding = useAction()
  const create = useCreate()
  const installation = choices.find(one => one.id === id)
  const isFirst = id === choices[0].id
  const read = useLoad(signal => (isFirst ? Promise.resolve(first) : emittedBy(installation, signal)), [id])
  const emitted = isFirst ? first : (!read.isOld && read.data) || []
  const isLoading = !isFirst && read.isLoading
  const [form, change] = useForm(null, emitted)
  const types = typesOf(form)
  const chooseModule = next => {
    choose(next)
    change({ chosen: new Set([...form.chosen].filter(type => MUSTER_EVENTS.includes(type))) })
  }
  const submit = async () => {
    complain(types.length === 0)
    if (types.length === 0) return
    keep(types)
    const body = { url: form.url, description: form.description || null, subscribed_event_types: types }
    await adding.run(async () => show(await create(`/v1/installations/${id}/webhook-endpoints`, body)))
  }
  if (made) return html`<${Made} made=${made} onClose=${() => onDone(made)} />`
  const fault = hasNoType && types.length === 0 ? t.chooseEvents : typeFaults(adding.error?.fields, sent)
  return html`<${FormDialog} title=${t.add} action=${t.addNow} isWide=${true} running=${adding} isReady=${!isLoading} isShown=${isField} known=${t.addErrors} mustStay=${true}
    values=${[id, form.url, form.description, types]} submit=${submit}
    onClose=${onClose}>
    ${choices.length > 1 && html`<${SelectField} label=${t.module} value=${id} onChange=${chooseModule} options=${choices.map(one => [one.id, one.module?.name ?? one.id])} />`}
    <${Fields} form=${form} change=${change} faults=${adding.error?.fields ?? {}} />
    ${isLoading ? html`<${Loading} />` : html`<${Events} module=${installation.module} emitted=${emitted} form=${form} change=${change} error=${fault} />`}<//>`
}

/** emitted: as in AddEndpoint. */
export const EditEndpoint = ({ endpoint: now, module, emitted: read, onDone, onClose, onReload }) => {
  const [endpoint] = useState(now) // the version of the values with which the form begins, for If-Match
  const saving = useAction()
  const [emitted] = useState(read)
  const [form, change] = useForm(endpoint, emitted)
  const [hasNoType, complain] = useState(false)
  const [sent, keep] = useState([]) // as in AddEndpoint
  const types = typesOf(form)
  const submit = async () => {
    complain(types.length === 0)
    if (types.length === 0) return
    keep(types)
    await saving.run(async () => {
      await call("PATCH", pathOf(endpoint), { body: changesOf(endpoint, form), headers: ifMatch(endpoint) })
      await onDone()
      announce(t.saved)
    })
  }
  const fault = hasNoType && types.length === 0 ? t.chooseEvents : typeFaults(saving.error?.fields, sent)
  return html`<${FormDialog} title=${t.editTitle} action=${texts.parts.save} isWide=${true} record=${endpoint} running=${saving} isShown=${isField}
    values=${[form.url, form.description, types]} submit=${submit} onClose=${onClose} onReload=${onReload}>
    <${Fields} form=${form} change=${change} faults=${saving.error?.fields ?? {}} />
    <${Events} module=${module} emitted=${emitted} form=${form} change=${change} error=${fault} /><//>`
}
