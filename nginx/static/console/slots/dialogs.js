// The dialogs of a slot. If-Match rejects a change if another admin has changed the slot.
import { call, getAll, ifMatch } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { slots as t } from "../lib/texts_ads.js"
import { html, useState } from "../lib/view.js"
import { LONGEST_SLUG, shortNameOf } from "../lib/slug.js"
import { FormDialog } from "../ui/dialogs.js"
import { Dialog, SelectField, TextField } from "../ui/parts.js"

/** The form after a change: the short name of a new slot follows the name until the person writes one. */
export const withSlug = (before, after) => {
  const follows = before.slug === shortNameOf(before.name, "slot") && after.slug === before.slug
  return follows ? { ...after, slug: shortNameOf(after.name, "slot") } : after
}

const bodyOf = ({ name, slug, width, height }) => ({ name, slug, width: Number(width), height: Number(height) })

const Size = ({ fields, setFields, faults, isNew }) => {
  const choose = size => size && setFields({ ...fields, width: size.split("x")[0], height: size.split("x")[1] })
  const current = t.commonOptions.some(([size]) => size === `${fields.width}x${fields.height}`) ? `${fields.width}x${fields.height}` : ""
  return html`${isNew && html`<${SelectField} label=${t.common} value=${current} options=${t.commonOptions} onChange=${choose} />`}
    <div class="columns">${["width", "height"].map(name => html`<${TextField} key=${name} label=${t[name]} hint=${t.pixels} type="number" min="1" max="10000"
      required value=${fields[name]} error=${faults[name]} onInput=${text => setFields({ ...fields, [name]: text })} />`)}</div>`
}

/** slot: the one to edit; without one, a new slot. */
export const SlotForm = ({ slot, onDone, onReload, onClose }) => {
  const [fields, setFields] = useState({ name: "", slug: "", width: "", height: "", ...slot })
  const saving = useAction()
  const create = useCreate()
  const submit = () => saving.run(async () => {
    if (slot) await call("PATCH", `/console/v1/ads/slots/${slot.id}`, { body: bodyOf(fields), headers: ifMatch(slot) })
    else await create("/console/v1/ads/slots", bodyOf(fields))
    await onDone(slot ? t.saved : t.created)
  })
  const set = name => text => setFields(slot ? { ...fields, [name]: text } : withSlug(fields, { ...fields, [name]: text }))
  const faults = saving.error?.fields ?? {}
  return html`<${FormDialog} title=${slot ? t.editTitle(slot.name) : t.create} action=${slot ? texts.parts.save : t.createNow} values=${fields} record=${slot} running=${saving}
    known=${{ ...t.errors, INVALID_STATE: saving.error?.details?.reason }} isShown=${path => path in bodyOf(fields)} submit=${submit} onReload=${slot && onReload} onClose=${onClose}>
    <${TextField} label=${t.name} hint=${t.nameHint} required maxlength="255" value=${fields.name} error=${faults.name} onInput=${set("name")} />
    <${TextField} label=${t.slug} hint=${slot ? `${t.slugHint}. ${t.slugChange}` : t.slugHint} required maxlength=${LONGEST_SLUG} value=${fields.slug}
      error=${faults.slug} onInput=${set("slug")} />
    <${Size} fields=${fields} setFields=${setFields} faults=${faults} isNew=${!slot} />${slot && html`<p class="hint">${t.sizeChange}</p>`}<//>`
}

const Used = ({ slot, campaigns, onClose }) => html`<${Dialog} title=${t.deleteTitle(slot.name)} onClose=${onClose}>
  <p>${t.used(campaigns.length)}</p>
  <ul class="list">${campaigns.map(one => html`<li><a href=${address(["ads", one.id])}>${one.name}</a></li>`)}</ul>
  <div class="actions"><button type="button" onClick=${onClose}>${texts.parts.close}</button></div><//>`

/** The campaigns that use a slot. */
export const usersOf = async slot => (await getAll("/console/v1/ads/campaigns", "campaigns")).filter(one => one.slot_ids.includes(slot.id))

/** data: the campaigns that use the slot. */
export const DeleteSlot = ({ slot, data: users, onDone, onReload, onClose }) => {
  const deleting = useAction()
  const remove = () => deleting.run(async () => {
    await call("DELETE", `/console/v1/ads/slots/${slot.id}`, { headers: ifMatch(slot) })
    await onDone(t.deleted(slot.name))
  })
  if (users.length > 0) return html`<${Used} slot=${slot} campaigns=${users} onClose=${onClose} />`
  return html`<${FormDialog} title=${t.deleteTitle(slot.name)} action=${t.delete} kind="danger" record=${slot} running=${deleting}
    known=${{ ...t.errors, INVALID_STATE: t.inUse(deleting.error?.details?.reason) }} submit=${remove} onClose=${onClose} onReload=${onReload}>
    <p>${t.deleteHint}</p><//>`
}
