// The dialogs of page keys: issue, change, replace, revoke.
import { announce } from "../lib/announce.js"
import { call, get } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { formatAgo } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useState } from "../lib/view.js"
import { stateOf } from "../keys/list.js"
import { FormDialog } from "../ui/dialogs.js"
import { Confirm, ErrorBox, TextField } from "../ui/parts.js"
import { PATHS, changesOf, fieldsOf, newKeyOf } from "./keys.js"
import { Origins } from "./origins.js"

const Limits = ({ fields, set, faults, usual }) => html`<fieldset><legend>${t.limits}</legend><div class="columns">
  ${[["perSecond", "rate_limit_per_second", usual?.per_second], ["burst", "burst", usual?.burst]].map(([name, field, most]) => html`
    <${TextField} key=${name} label=${t[name]} hint=${most && t.limitHint(most)} type="number" min="1" max=${most} step="1" value=${fields[name]}
      error=${faults[field]} onInput=${set(name)} />`)}</div></fieldset>`

const isField = path => /^(name|expires_at|rate_limit_per_second|burst|allowed_origins(\[\d+\])?)$/.test(path)

const KeyForm = ({ kind, first, title, action, hint, save, onClose }) => {
  const [fields, setFields] = useState(first)
  const [sent, keep] = useState(first) // the faults of a reply have its indexes
  const about = useLoad(signal => get("/console/v1/about", undefined, signal), [])
  const saving = useAction()
  const set = name => value => setFields({ ...fields, [name]: value })
  const faults = saving.error?.fields ?? {}
  const submit = () => {
    keep(fields)
    saving.run(() => save(fields))
  }
  return html`<${FormDialog} title=${title} action=${action} isWide=${true} values=${fields} running=${saving} isShown=${isField} known=${{ INVALID_STATE: t.full(saving.error?.details?.reason) }}
    submit=${submit} onClose=${onClose}>${hint && html`<p>${hint}</p>`}
    <${TextField} label=${t.name} hint=${t.nameHint} required maxlength="255" value=${fields.name} error=${faults.name} onInput=${set("name")} />
    <${Origins} rows=${fields.origins} sent=${sent.origins} faults=${faults} onChange=${set("origins")} />
    <${TextField} label=${t.end} hint=${t.endHint} type="date" value=${fields.day} error=${faults.expires_at} onInput=${set("day")} />
    ${kind === "tracking" && html`<${Limits} fields=${fields} set=${set} faults=${faults} usual=${about.data?.rates.tracking_key} />`}<//>`
}

/** record: the key whose values the new one gets. */
export const IssuePageKey = ({ kind, record, onClose }) => {
  const open = useOpen()
  const create = useCreate()
  const save = async fields => {
    const made = await create(PATHS[kind], newKeyOf(kind, fields))
    announce(t.issued)
    onClose()
    open(["page-keys", kind, made.id])
  }
  const first = fieldsOf(record && stateOf(record) === "expired" ? { ...record, expires_at: null } : record)
  return html`<${KeyForm} kind=${kind} first=${first} title=${record ? t.replaceTitle(record.name) : t.sections[kind].issue}
    hint=${record && t.replaceHint} action=${t.issueNow} save=${save} onClose=${onClose} />`
}

export const ChangePageKey = ({ kind, record, onDone, onClose }) => {
  const save = async fields => {
    await call("PATCH", `${PATHS[kind]}/${record.id}`, { body: changesOf(kind, record, fields) })
    await onDone(t.changed)
  }
  return html`<${KeyForm} kind=${kind} first=${fieldsOf(record)} title=${t.changeTitle(record.name)} action=${texts.parts.save} save=${save} onClose=${onClose} />`
}

export const RevokePageKey = ({ kind, record, onDone, onClose }) => {
  const revoking = useAction()
  const revoke = () => revoking.run(async () => {
    await call("DELETE", `${PATHS[kind]}/${record.id}`)
    await onDone(t.revoked)
  })
  return html`<${Confirm} title=${t.revokeTitle(record.name)} action=${t.revoke} isBusy=${revoking.isBusy} onConfirm=${revoke} onClose=${onClose}>
    <p>${t.revokeHint[kind]}</p><p>${record.last_used_at ? t.revokeUsed(formatAgo(record.last_used_at)) : t.revokeUnused}</p>
    <${ErrorBox} error=${revoking.error} /><//>`
}
