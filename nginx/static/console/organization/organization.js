// The organization: its name, what it uses of its limits, and the limits of the installation.
import { call, get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { formatBytes, formatNumber, formatTime, plural } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { takeSession } from "../lib/session.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { organization as t } from "../lib/texts_organization.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Badge, Facts, Loaded, Table, TextField, Title } from "../ui/parts.js"

const NEAR = 0.8 // share of a limit from which it is marked

const Rename = ({ record, etag, onDone, onClose, onReload }) => {
  const [name, setName] = useState(record.name)
  const saving = useAction()
  const submit = () => saving.run(async () => {
    await call("PATCH", "/v1/organization", { body: { name }, headers: { "If-Match": etag } })
    await get("/v1/session").then(takeSession, () => {}) // the name is changed
    await onDone(t.renamed)
  })
  return html`<${FormDialog} title=${t.renameTitle} action=${texts.parts.save} isReady=${trimmed(name) !== record.name} values=${name} record=${record} running=${saving} known=${t.conflict}
    isShown=${path => path === "name"} submit=${submit} onClose=${onClose} onReload=${onReload} reloadText=${t.reload}>
    <${TextField} label=${t.name} hint=${t.nameHint} required maxlength="255" value=${name} onInput=${setName} error=${saving.error?.fields?.name} /><//>`
}

const Share = ({ used, maximum }) => {
  if (maximum === null) return t.noLimit
  const share = used / maximum
  return html`<meter min="0" max=${maximum} high=${maximum * NEAR} value=${used}>${Math.round(100 * share)} %</meter>
    ${share >= 1 ? html` <${Badge} kind="bad">${t.full}<//>` : share >= NEAR && html` <${Badge} kind="warn">${t.near}<//>`}`
}

const Usage = ({ title, hint, usage }) => html`<section><h2>${title}</h2>${hint && html`<p class="faint">${hint}</p>`}
  <${Table} caption=${title} columns=${t.columns} numbers=${[1, 2]}>${usage.map(one => {
    const shown = t.bytes.includes(one.quota) ? formatBytes : formatNumber
    return html`<tr key=${one.quota}><th scope="row">${t.quotas[one.quota] ?? one.quota}</th><td class="number">${shown(one.used)}</td>
      <td class="number">${one.maximum === null ? "–" : shown(one.maximum)}</td><td><${Share} ...${one} /></td></tr>`
  })}<//></section>`

const rateText = ({ per_second: rate, burst }) => t.perSecond(formatNumber(rate), formatNumber(burst))
const daysText = days => (days === null ? t.untilDeleted : plural(days, "day"))

const Installation = ({ about: { base_url: url, version, limits, rates, retention } }) => html`
  <section><h2>${t.installation}</h2><p class="faint">${t.operator}</p><${Facts} pairs=${[
    [t.address, html`<code>${url}</code>`], [t.version, version], [t.importRows, formatNumber(limits.import_rows)], [t.rate, rateText(rates.key)],
    [t.organizationRate, rateText(rates.organization)]]} /></section>
  <section><h2>${t.kept}</h2><${Facts} pairs=${[[t.keptImports, daysText(retention.import_days)], [t.keptAudit, daysText(retention.audit_log_days)],
    [t.keptEvents, daysText(retention.engagement_event_days)], [t.keptDeliveries, daysText(retention.webhook_event_days)]]} /></section>`

const load = async signal => {
  const [{ data: record, headers }, { usage }, about] = await Promise.all([
    call("GET", "/v1/organization", { signal }), get("/v1/organization/usage", undefined, signal), get("/console/v1/about", undefined, signal)])
  return { record, etag: headers.get("ETag"), usage, about }
}

export default ({ role }) => {
  const state = useLoad(load, [])
  const { dialog, ask, close } = useDialog()
  const done = async text => {
    await state.reload()
    close()
    announce(text)
  }
  const rename = role === "owner" && state.data && html`<button type="button" onClick=${() => ask({})}>${t.rename}</button>`
  return html`<${Title} text=${t.title} actions=${rename} /><${Loaded} state=${state}>${({ record, etag, usage, about }) => {
    const ofDay = usage.filter(one => one.frees_at)
    return html`<section><${Facts} pairs=${[[t.name, record.name], [t.created, formatTime(record.created_at)], [t.id, html`<code>${record.id}</code>`]]} /></section>
      <${Usage} title=${t.records} usage=${usage.filter(one => !one.frees_at)} />
      <${Usage} title=${t.today} hint=${ofDay.length > 0 && t.todayHint(formatTime(ofDay[0].frees_at))} usage=${ofDay} />
      <${Installation} about=${about} />
      ${dialog && html`<${Rename} record=${record} etag=${etag} onDone=${done} onClose=${close} onReload=${state.reload} />`}`
  }}<//>`
}
