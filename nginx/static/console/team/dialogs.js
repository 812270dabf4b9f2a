// The dialogs of the team.
import { call, get } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { session, takeSession } from "../lib/session.js"
import { texts } from "../lib/texts.js"
import { team as t } from "../lib/texts_team.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Confirm, SelectField, TextField } from "../ui/parts.js"

const ROLES = Object.entries(t.roleOptions)

/** The messages of codes. The API says which budget of invitations is used up, and nothing about other rates. */
const known = error => ({ ...t.errors, RATE_LIMITED: error?.details?.reason })

export const Invite = ({ onDone, onClose }) => {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("admin")
  const saving = useAction()
  const create = useCreate()
  const submit = () => saving.run(async () => {
    await create("/v1/seats", { email, role })
    await onDone(t.invited(email))
  })
  return html`<${FormDialog} title=${t.inviteTitle} action=${t.send} values=${[email, role]} running=${saving} isShown=${path => path === "email"} known=${known(saving.error)} submit=${submit} onClose=${onClose}>
    <p>${t.inviteHint}</p>
    <${TextField} label=${t.address} type="email" required value=${email} onInput=${setEmail} error=${saving.error?.fields?.email} />
    <${SelectField} label=${t.role} value=${role} onChange=${setRole} options=${ROLES} /><//>`
}

export const ChangeRole = ({ seat, onDone, onClose }) => {
  const [role, setRole] = useState(seat.role)
  const saving = useAction()
  const submit = () => saving.run(async () => {
    await call("PATCH", `/v1/seats/${seat.admin_id}`, { body: { role } })
    if (seat.admin_id === session.get().admin?.id) await get("/v1/session").then(takeSession, () => {}) // the role is changed
    await onDone(t.changed)
  })
  return html`<${FormDialog} title=${t.roleTitle(seat.email)} action=${texts.parts.save} values=${role} running=${saving} known=${known(saving.error)} submit=${submit} onClose=${onClose}>
    <${SelectField} label=${t.role} hint=${t.roleHint} value=${role} onChange=${setRole} options=${ROLES} /><//>`
}

/** A question about a seat or an invitation, and the call that follows. */
const question = ({ title, action, hint, method, path, done }) => ({ seat, onDone, onClose }) => {
  const running = useAction()
  const confirm = () => running.run(async () => {
    await call(method, path(seat))
    await onDone(done)
  })
  return html`<${Confirm} title=${title(seat.email)} action=${action} isBusy=${running.isBusy} error=${running.error} known=${known(running.error)}
    onConfirm=${confirm} onClose=${onClose}><p>${hint}</p><//>`
}

export const RemoveSeat = question({
  title: t.removeTitle, action: t.actions.remove, hint: t.removeHint, method: "DELETE", path: seat => `/v1/seats/${seat.admin_id}`, done: t.removed,
})
export const Resend = question({
  title: t.resendTitle, action: t.actions.resend, hint: t.resendHint, method: "POST",
  path: seat => `/v1/invitations/${seat.invitation_id}/resend`, done: t.resent,
})
export const Withdraw = question({
  title: t.withdrawTitle, action: t.actions.withdraw, hint: t.withdrawHint, method: "DELETE",
  path: seat => `/v1/invitations/${seat.invitation_id}`, done: t.withdrawn,
})
