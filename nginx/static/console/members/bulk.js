// The dialog that begins a change of all members that match the filters of the list.
import { useCreate } from "../lib/create.js"
import { jsonOf } from "../lib/exact.js"
import { otherFaults } from "../lib/faults.js"
import { useAction, useLoad } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { address, useOpen } from "../lib/router.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { memberJobs as t } from "../lib/texts_members.js"
import { useTyped } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { Dialog, ErrorBox, Facts, Loaded, SelectField, TextField } from "../ui/parts.js"
import { isEveryone, jobFilterOf, filterNameOf, pairsOf } from "./conditions.js"

const Form = ({ filter, registry, onClose }) => {
  const [action, choose] = useState("lock")
  const [reason, setReason] = useState("")
  const counting = useAction()
  const create = useCreate()
  const open = useOpen()
  useTyped([action, reason], counting.isBusy)
  const submit = event => {
    event.preventDefault()
    const why = action === "lock" && trimmed(reason) ? { reason: trimmed(reason) } : {}
    const json = jsonOf({ action, filter, ...why })
    counting.run(async () => open(["member-jobs", (await create("/v1/member-jobs", undefined, { json })).id]))
  }
  const active = counting.error?.details?.job_id
  return html`<form onSubmit=${submit}>
    ${isEveryone(filter) ? html`<p class="box warning">${t.everyone}</p>`
      : html`<p>${t.matching}</p><${Facts} pairs=${pairsOf(filter, registry)} />`}
    <${SelectField} label=${t.action} hint=${t.effects[action]} value=${action} onChange=${choose} options=${t.actions} />
    ${action === "lock" && html`<${TextField} label=${t.reason} hint=${t.reasonHint} maxlength="255" value=${reason} onInput=${setReason} />`}
    <p>${t.countFirst}</p>
    <${ErrorBox} error=${otherFaults(counting.error, () => false, path => (path === "reason" ? t.reason : filterNameOf(path, registry)))} known=${active ? t.active : {}} />
    ${active && html`<p><a href=${address(["member-jobs", active])}>${t.showActive}</a></p>`}
    <div class="actions"><button class="primary" disabled=${counting.isBusy}>${t.count}</button>
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div></form>`
}

const BulkDialog = ({ query, onClose }) => {
  const registry = useLoad(allAttributes, [])
  return html`<${Dialog} title=${t.startTitle} onClose=${onClose}><${Loaded} state=${registry}>${attributes => html`
    <${Form} filter=${jobFilterOf(query, attributes)} registry=${attributes} onClose=${onClose} />`}<//><//>`
}

/** query: of the address of the list. An admin who becomes a viewer keeps the dialog, with its text. */
export const BulkChange = ({ query, isAdmin, isDisabled, label }) => {
  const [asks, ask] = useState(false)
  return html`${isAdmin && html`<button type="button" disabled=${isDisabled} onClick=${() => ask(true)}>${label}</button>`}
    ${asks && html`<${BulkDialog} query=${query} onClose=${() => ask(false)} />`}`
}
