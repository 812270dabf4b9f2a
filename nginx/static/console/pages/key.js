// One page key: its values, the code for pages, and whether that code works.
import { announce } from "../lib/announce.js"
import { get } from "../lib/api.js"
import { useDialog } from "../lib/dialog.js"
import { formatTime } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { keys } from "../lib/texts_keys.js"
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useState } from "../lib/view.js"
import { stateOf } from "../keys/list.js"
import { CopyButton, Facts, Loaded, Title } from "../ui/parts.js"
import { ChangePageKey, IssuePageKey, RevokePageKey } from "./dialogs.js"
import { PATHS } from "./keys.js"
import { KeyState, endOf, usedOf } from "./list.js"
import { Snippet } from "./snippet.js"
import { articlesCode, policyOf, trackingCode } from "./snippets.js"
import { Works } from "./works.js"

const DIALOGS = { change: ChangePageKey, replace: IssuePageKey, revoke: RevokePageKey }

const rateOf = (record, usual) => {
  const text = t.rate(record.rate_limit_per_second ?? usual.per_second, record.burst ?? usual.burst)
  return record.rate_limit_per_second === null && record.burst === null ? t.usualRate(text) : text
}

const Values = ({ kind, record, about }) => html`<${Facts} pairs=${[
  [t.facts.kind, t.kinds[kind]], [t.facts.state, html`<${KeyState} record=${record} />`],
  [t.facts.key, html`<code>${record.key}</code> <${CopyButton} text=${record.key} />`],
  [t.facts.origins, html`<ul class="plain-list">${record.allowed_origins.map(origin => html`<li>${origin}</li>`)}</ul>`],
  [t.facts.rate, kind === "tracking" ? rateOf(record, about.rates.tracking_key) : undefined],
  [t.facts.used, usedOf(record)], [t.facts.ends, endOf(record)],
  [t.facts.by, record.created_by_email ?? keys.operator], [t.facts.created, formatTime(record.created_at)]]} />`

const TrackingCode = ({ record, about }) => {
  const [hasIntegrity, choose] = useState(true)
  return html`<${Snippet} label=${t.code} text=${trackingCode({ script: about.tracking_script, key: record.key, hasIntegrity })} />
    <p><label class="check"><input type="checkbox" checked=${hasIntegrity} onChange=${event => choose(event.target.checked)} /> ${t.integrity}</label></p>
    <p class="hint">${t.integrityHint}</p><p class="hint">${t.policy} <code>${policyOf(about.base_url)}</code></p>`
}

const Code = ({ kind, record, about }) => html`<section><h2>${t.code}</h2><p>${t.codeHint[kind]}</p>${kind === "tracking"
  ? html`<${TrackingCode} record=${record} about=${about} />`
  : html`<${Snippet} label=${t.code} text=${articlesCode({ base: about.base_url, key: record.key })} />
    <p class="hint">${t.policy} <code>${policyOf(about.base_url).split("; ")[1]}</code></p>`}</section>`

const WorksContent = ({ reload }) => html`<section><h2>${t.works}</h2><p>${t.worksContent}</p>
  <button type="button" onClick=${reload}>${t.checkAgain}</button></section>`

const Key = ({ kind, record, about, isAdmin, reload }) => {
  const { dialog, ask, close } = useDialog()
  const isActive = stateOf(record) === "active"
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  const Asked = DIALOGS[dialog?.action]
  const actions = stateOf(record) === "revoked" ? [] : ["change", "replace", "revoke"]
  return html`<${Title} text=${record.name} actions=${isAdmin && actions.map(action => html`<button key=${action} type="button"
      class=${action === "revoke" ? "danger" : ""} onClick=${() => ask({ action })}>${t[action]}</button>`)} />
    <${Values} kind=${kind} record=${record} about=${about} />
    ${isActive ? html`<${Code} kind=${kind} record=${record} about=${about} />
        ${kind === "tracking" ? html`<${Works} record=${record} />` : html`<${WorksContent} reload=${reload} />`}`
      : html`<p class="box warning">${t.ended}</p>`}
    ${Asked && html`<${Asked} kind=${kind} record=${record} onDone=${done} onClose=${close} />`}`
}

const load = async (kind, id, signal) => {
  const [record, about] = await Promise.all([get(`${PATHS[kind] ?? PATHS.tracking}/${id}`, undefined, signal), get("/console/v1/about", undefined, signal)])
  return { record, about }
}

export default ({ kind, id, role }) => {
  const state = useLoad(signal => load(kind, id, signal), [kind, id])
  return html`<p><a href=${address(["page-keys"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.pageKey}>${({ record, about }) => html`
    <${Key} key=${record.id} kind=${kind} record=${record} about=${about} isAdmin=${role !== "viewer"} reload=${state.reload} />`}<//>`
}
