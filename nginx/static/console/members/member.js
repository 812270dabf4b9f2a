// One member: fields, attributes with their origin, events, and what an admin can do.
import { call, get, post } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useConflict } from "../lib/conflict.js"
import { callExactly, getExactly } from "../lib/exact.js"
import { formatDay, formatTime } from "../lib/format.js"
import { useDialog } from "../lib/dialog.js"
import { useAction, useList, useLoad } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { address, useOpen } from "../lib/router.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { member as t } from "../lib/texts_members.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { ErrorBox, Facts, Loaded, More, Table, TextField, Title } from "../ui/parts.js"
import { EditMember } from "./edit.js"
import { StatusBadge, nameOf, valueText } from "./parts.js"

const { fields, id: idLabel } = texts.member

const load = async (id, signal) => {
  const [{ data: member, headers }, { attributes }, registry] = await Promise.all([
    callExactly("GET", `/v1/users/${id}`, { signal }), getExactly(`/v1/users/${id}/attributes`, undefined, signal), allAttributes(signal)])
  const labels = Object.fromEntries(registry.map(({ key, label }) => [key, label]))
  return { member, attributes: attributes.map(one => ({ ...one, label: labels[one.key] || one.key })), etag: headers.get("ETag") }
}

const Attributes = ({ attributes }) => html`<section><h2>${t.attributes}</h2>${attributes.length === 0
  ? html`<p class="faint">${t.noAttributes}</p>`
  : html`<${Table} caption=${t.attributes} columns=${t.attributeColumns}>${attributes.map(one => html`<tr>
      <th scope="row">${one.label}</th><td>${valueText(one.value)}</td><td>${t.origins[one.provenance] ?? one.provenance}</td>
      <td class="nowrap">${formatTime(one.updated_at)}</td></tr>`)}<//>`}</section>`

const Events = ({ id }) => {
  const list = useList((cursor, signal) => get(`/v1/users/${id}/engagement/events`, { cursor, limit: 20 }, signal), "events", [id])
  return html`<section><h2>${t.events}</h2><${Loaded} state=${list}>${() => list.items.length === 0
    ? html`<p class="faint">${t.noEvents}</p>`
    : html`<${Table} caption=${t.events} columns=${t.eventColumns}>${list.items.map(event => html`<tr>
        <td class="nowrap">${formatTime(event.occurred_at)}</td><td>${event.action}</td><td>${event.type ?? "–"}</td>
        <td>${t.sources[event.source] ?? event.source}</td></tr>`)}<//><${More} list=${list} />`}<//></section>`
}

const LockDialog = ({ member, etag, onDone, onClose, onReload }) => {
  const [reason, setReason] = useState("")
  const locking = useAction()
  const submit = () => locking.run(async () => {
    const body = trimmed(reason) ? { reason: trimmed(reason) } : {}
    await call("POST", `/v1/users/${member.id}/lock`, { body, headers: { "If-Match": etag } })
    await onDone(t.locked)
  })
  return html`<${FormDialog} title=${t.lockTitle(nameOf(member))} action=${t.lock} values=${reason} record=${member} running=${locking} known=${t.conflict} submit=${submit} onClose=${onClose}
    onReload=${onReload}>
    <p>${t.lockHint}</p>
    <${TextField} label=${t.reason} hint=${t.reasonHint} maxlength="255" value=${reason} onInput=${setReason} /><//>`
}

const RemoveDialog = ({ member, etag, attributes, onClose, onReload }) => {
  const removing = useAction()
  const counting = useLoad(signal => get(`/v1/users/${member.id}/engagement/events`, { limit: 1, total: "true" }, signal), [])
  const open = useOpen()
  const remove = () => removing.run(async () => {
    await call("DELETE", `/v1/users/${member.id}`, { headers: { "If-Match": etag } })
    announce(t.removed(nameOf(member)))
    open(["members"])
  })
  return html`<${FormDialog} title=${t.removeTitle(nameOf(member))} action=${t.remove} kind="danger" record=${member} running=${removing} known=${t.conflict} submit=${remove}
    isReady=${!counting.isLoading} onClose=${onClose} onReload=${onReload}>
    <p>${t.removeHint}</p><ul>${t.removeList(attributes.length, counting.data?.total).map(line => html`<li>${line}</li>`)}</ul><//>`
}

const Actions = ({ member, unlocking, unlock, ask }) => html`
  <button type="button" onClick=${() => ask({ action: "edit" })}>${texts.parts.edit}</button>
  ${member.status === "locked" ? html`<button type="button" disabled=${unlocking.isBusy} onClick=${unlock}>${t.unlock}</button>`
    : html`<button type="button" onClick=${() => ask({ action: "lock" })}>${t.lock}</button>`}
  <button type="button" class="danger" onClick=${() => ask({ action: "remove" })}>${t.remove}</button>`

const DIALOGS = { edit: EditMember, lock: LockDialog, remove: RemoveDialog }

/** An admin who becomes a viewer keeps an open dialog with its text and its error. */
const Member = ({ member, etag, attributes, role, reload, shown: { dialog, ask, close } }) => {
  const unlocking = useAction()
  useConflict(unlocking.error, {}, member) // after a lost reply, a conflict in a dialog may be this change
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  const unlock = () => unlocking.run(async () => {
    await post(`/v1/users/${member.id}/unlock`)
    await reload()
    announce(t.unlocked)
  })
  const Asked = DIALOGS[dialog?.action]
  return html`<${Title} text=${nameOf(member)} actions=${role !== "viewer" && html`
      <${Actions} member=${member} unlocking=${unlocking} unlock=${unlock} ask=${ask} />`} />
    <${ErrorBox} error=${unlocking.error} />
    ${Asked && html`<${Asked} member=${member} etag=${etag} attributes=${attributes} onDone=${done} onClose=${close} onReload=${reload} />`}`
}

const Profile = ({ member }) => html`<section><h2>${t.profile}</h2><${Facts} pairs=${[
  [fields.email, member.email], [t.status, html`<${StatusBadge} status=${member.status} />`],
  [t.lockedSince, member.locked_at ? `${formatTime(member.locked_at)}${member.lock_reason ? `: ${member.lock_reason}` : ""}` : undefined],
  [fields.first_name, member.first_name], [fields.last_name, member.last_name], [fields.display_name, member.display_name],
  [fields.external_id, member.external_id], [fields.locale, member.locale], [fields.country, member.country],
  [fields.dob, formatDay(member.dob)], [t.created, formatTime(member.created_at)], [t.updated, formatTime(member.updated_at)],
  [idLabel, html`<code>${member.id}</code>`]]} /></section>`

export default ({ id, role }) => {
  const state = useLoad(signal => load(id, signal), [id])
  const shown = useDialog()
  return html`<p><a href=${address(["members"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.member}>${({ member, attributes, etag }) => html`
    <${Member} member=${member} etag=${etag} attributes=${attributes} role=${role} reload=${state.reload} shown=${shown} />
    <${Profile} member=${member} /><${Attributes} attributes=${attributes} /><${Events} id=${id} />`}<//>`
}
