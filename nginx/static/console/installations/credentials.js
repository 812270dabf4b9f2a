// The credentials of an installation: issue, replace, revoke. Both secrets are shown once.
import { announce } from "../lib/announce.js"
import { call } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useDialog } from "../lib/dialog.js"
import { formatAgo, formatTime } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { keys } from "../lib/texts_keys.js"
import { installations as t } from "../lib/texts_modules.js"
import { html, useState } from "../lib/view.js"
import { endOfDay } from "../keys/dialogs.js"
import { stateOf } from "../keys/list.js"
import { FormDialog, SecretDialog } from "../ui/dialogs.js"
import { Badge, Secret, Table, TextField } from "../ui/parts.js"

const pathOf = installation => `/v1/installations/${installation.id}/credentials`

/** record: the credential that is replaced; without it, another one is issued. */
const Issue = ({ installation, record, onMade, onClose }) => {
  const [name, setName] = useState(record?.name ?? "")
  const [day, setDay] = useState("")
  const issuing = useAction()
  const create = useCreate()
  const submit = () => issuing.run(async () => onMade(await create(pathOf(installation), { name, expires_at: endOfDay(day) })))
  return html`<${FormDialog} title=${record ? t.replaceTitle(record.name) : t.issue} action=${record ? t.replaceNow : keys.issueNow} values=${[name, day]} running=${issuing} mustStay=${true}
    isShown=${path => path === "name" || path === "expires_at"} known=${t.issueErrors} submit=${submit} onClose=${onClose}>${record && html`<p>${t.replaceHint}</p>`}
    <${TextField} label=${t.credentialName} hint=${t.credentialNameHint} required maxlength="255" value=${name} onInput=${setName}
      error=${issuing.error?.fields?.name} />
    <${TextField} label=${keys.end} hint=${t.endHint} type="date" value=${day} onInput=${setDay}
      error=${issuing.error?.fields?.expires_at} /><//>`
}

const Revoke = ({ installation, record, onDone, onClose }) => {
  const revoking = useAction()
  const submit = () => revoking.run(async () => {
    await call("DELETE", `${pathOf(installation)}/${record.id}`)
    await onDone(t.revoked)
  })
  return html`<${FormDialog} title=${t.revokeTitle(record.name)} action=${keys.actions.revoke} kind="danger" running=${revoking} submit=${submit}
    onClose=${onClose}><p>${t.revokeHint}</p><//>`
}

const Show = ({ record, onClose }) => html`<${SecretDialog} title=${t.madeTitle} hint=${t.madeHint} stored=${t.storedBoth} onClose=${onClose}>
  <${Secret} label=${t.credential} value=${record.credential} /><${Secret} label=${t.signingSecret} value=${record.signing_secret} /><//>`

const Row = ({ record, canIssue, isAdmin, ask }) => {
  const state = stateOf(record)
  const button = (action, text, kind = "") => html`<button type="button" class="small ${kind}" aria-label=${`${text}: ${record.name}`}
    onClick=${() => ask(action, record)}>${text}</button>`
  return html`<tr><th scope="row">${record.name}<br /><code class="faint">${record.prefix}…${record.last_four}</code></th>
    <td><${Badge} kind=${state === "active" ? "good" : "plain"}>${keys.states[state]}<//></td>
    <td>${record.last_used_at ? formatAgo(record.last_used_at) : keys.neverUsed}</td>
    <td>${record.expires_at ? formatTime(record.expires_at) : keys.noEnd}</td><td>${record.created_by_email ?? t.formerAdmin}</td>
    ${isAdmin && html`<td>${state !== "revoked" && html`<div class="actions">${canIssue && button("issue", t.replace)}
      ${button("revoke", keys.actions.revoke, "danger")}</div>`}</td>`}</tr>`
}

export const Credentials = ({ installation, credentials, isAdmin, reload }) => {
  const { dialog, ask, close } = useDialog()
  const canIssue = isAdmin && installation.status !== "disabled"
  const made = record => ask({ action: "made", record })
  const stored = () => { // not earlier: another error above the page would distract from both secrets
    close()
    reload()
  }
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  return html`<section><header class="title"><h2>${t.credentials}</h2>
      ${canIssue && html`<button type="button" onClick=${() => ask({ action: "issue" })}>${t.issue}</button>`}</header>
    <p>${t.credentialsHint}</p>
    ${credentials.length === 0 ? html`<p class="faint">${t.noCredentials}</p>`
      : html`<${Table} caption=${t.credentials} columns=${isAdmin ? [...t.credentialColumns, texts.parts.actionColumn] : t.credentialColumns} isStacked=${true}>${
        credentials.map(record => html`<${Row} key=${record.id} record=${record} canIssue=${canIssue} isAdmin=${isAdmin}
          ask=${(action, of) => ask({ action, record: of })} />`)}<//>`}
    ${dialog?.action === "issue" && html`<${Issue} installation=${installation} record=${dialog.record} onMade=${made} onClose=${close} />`}
    ${dialog?.action === "revoke" && html`<${Revoke} installation=${installation} record=${dialog.record} onDone=${done} onClose=${close} />`}
    ${dialog?.action === "made" && html`<${Show} record=${dialog.record} onClose=${stored} />`}</section>`
}
