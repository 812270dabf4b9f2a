// The dialogs of API keys.
import { call } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { momentIn } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { keys as t } from "../lib/texts_keys.js"
import { html, useState } from "../lib/view.js"
import { FormDialog, SecretDialog } from "../ui/dialogs.js"
import { Confirm, Secret, SelectField, TextField } from "../ui/parts.js"


/** The end of a day, in the time zone of the browser, as the API takes it. */
export const endOfDay = day => (day ? momentIn(`${day}T23:59:59`) : null)

/** The day of a moment, as an input of type date has it. */
export const dayOf = time => {
  if (!time) return ""
  const at = new Date(time)
  return [at.getFullYear(), String(at.getMonth() + 1).padStart(2, "0"), String(at.getDate()).padStart(2, "0")].join("-")
}

const isField = path => path === "name" || path === "expires_at"

export const IssueKey = ({ onDone, onClose }) => {
  const [name, setName] = useState("")
  const [role, setRole] = useState("admin")
  const [day, setDay] = useState("")
  const saving = useAction()
  const create = useCreate()
  const submit = () => saving.run(async () => onDone(await create("/v1/api-keys", { name, role, expires_at: endOfDay(day) })))
  return html`<${FormDialog} title=${t.issue} action=${t.issueNow} values=${[name, role, day]} running=${saving} isShown=${isField} mustStay=${true}
    submit=${submit} onClose=${onClose}>
    <${TextField} label=${t.name} hint=${t.nameHint} required maxlength="255" value=${name} onInput=${setName} error=${saving.error?.fields?.name} />
    <${SelectField} label=${t.role} hint=${t.roleHint} value=${role} onChange=${setRole} options=${t.roleOptions} />
    <${TextField} label=${t.end} hint=${t.endHint} type="date" value=${day} onInput=${setDay} error=${saving.error?.fields?.expires_at} /><//>`
}

/** What differs between the key and the form, as the body of a PATCH. */
export const keyChangesOf = (record, name, day) => ({
  ...(name === record.name ? {} : { name }),
  ...(day === dayOf(record.expires_at) ? {} : { expires_at: endOfDay(day) }),
})

export const ChangeKey = ({ record, onDone, onClose }) => {
  const [name, setName] = useState(record.name)
  const [day, setDay] = useState(dayOf(record.expires_at))
  const saving = useAction()
  const submit = () => saving.run(async () => {
    await call("PATCH", `/v1/api-keys/${record.id}`, { body: keyChangesOf(record, name, day) })
    await onDone()
  })
  return html`<${FormDialog} title=${t.changeTitle(record.name)} action=${texts.parts.save} values=${[name, day]} running=${saving} isShown=${isField} submit=${submit} onClose=${onClose}>
    <${TextField} label=${t.name} required maxlength="255" value=${name} onInput=${setName} error=${saving.error?.fields?.name} />
    <${TextField} label=${t.end} hint=${t.endHint} type="date" value=${day} onInput=${setDay} error=${saving.error?.fields?.expires_at} /><//>`
}

export const RotateKey = ({ record, onDone, onClose }) => {
  const [overlap, setOverlap] = useState("3600")
  const saving = useAction()
  const create = useCreate()
  const submit = () => saving.run(async () =>
    onDone(await create(`/v1/api-keys/${record.id}/rotate`, { overlap_seconds: Number(overlap) })))
  return html`<${FormDialog} title=${t.rotateTitle(record.name)} action=${t.actions.rotate} values=${overlap} running=${saving} mustStay=${true} submit=${submit} onClose=${onClose}>
    <p>${t.rotateHint}</p>
    <${SelectField} label=${t.overlap} value=${overlap} onChange=${setOverlap} options=${t.overlaps} /><//>`
}

export const RevokeKey = ({ record, onDone, onClose }) => {
  const revoking = useAction()
  const revoke = () => revoking.run(async () => {
    await call("DELETE", `/v1/api-keys/${record.id}`)
    await onDone()
  })
  return html`<${Confirm} title=${t.revokeTitle(record.name)} action=${t.actions.revoke} isBusy=${revoking.isBusy} error=${revoking.error}
    onConfirm=${revoke} onClose=${onClose}><p>${t.revokeHint}</p><//>`
}

export const ShowKey = ({ record, onClose }) => html`<${SecretDialog} title=${t.madeTitle} hint=${t.madeHint} stored=${t.stored} onClose=${onClose}>
  <${Secret} label=${record.name} value=${record.key} /><//>`
