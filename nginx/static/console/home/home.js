// The organization in numbers, what needs attention, and the first steps of a new one.
import { get } from "../lib/api.js"
import { formatNumber, plural } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { Loaded, Title } from "../ui/parts.js"

const t = texts.home

/** @param {Api.BoundedCount} counts */
const counted = ({ count, exact }) => (exact ? formatNumber(count) : t.moreThan(formatNumber(count)))
/** @param {Api.EndpointCounts} counts */
const sum = counts => Object.values(counts).reduce((total, count) => total + count, 0)

/** @param {Api.OrganizationSummary} summary */
const pageKeysOf = ({ keys_expiring_in_30_days: keys }) => keys.tracking_keys + keys.content_keys

/**
 * What an admin should look at: [sentence, path, query].
 * @param {Api.OrganizationSummary} summary
 */
export const attentionOf = summary => /** @type {Array<[string, string[], Record<string, string>?] | false | null>} */ ([
  summary.active_import && [t.activeImport(summary.active_import.file_name, t.importStates[summary.active_import.state] ?? texts.imports.states[summary.active_import.state]),
    ["imports", summary.active_import.id]],
  summary.active_import !== null && summary.active_import.invalid_rows > 0
    && [t.invalidRows(summary.active_import.invalid_rows), ["imports", summary.active_import.id]],
  summary.webhook_endpoints.failing > 0 && [t.failing(plural(summary.webhook_endpoints.failing, "webhook endpoint")), ["webhooks"], { state: "failing" }],
  summary.webhook_endpoints.disabled > 0 && [t.disabled(plural(summary.webhook_endpoints.disabled, "webhook endpoint")), ["webhooks"], { state: "disabled" }],
  summary.keys_expiring_in_30_days.api_keys > 0 && [t.expiring(plural(summary.keys_expiring_in_30_days.api_keys, "API key")), ["keys"]],
  pageKeysOf(summary) > 0 && [t.expiring(plural(pageKeysOf(summary), "page key")), ["page-keys"]],
  summary.keys_expiring_in_30_days.module_credentials > 0
    && [t.expiring(plural(summary.keys_expiring_in_30_days.module_credentials, "module credential")), ["installations"]],
  summary.connections.expired + summary.connections.revoked + summary.connections.error > 0
    && [t.connections(plural(summary.connections.expired + summary.connections.revoked + summary.connections.error, "connection")), ["connections"]],
])
  .filter(one => one !== null && one !== false)

const Attention = ({ items }) => items.length > 0 && html`<section><h2>${t.attention}</h2><ul class="list">${items.map(([text, path, query]) => html`
  <li><a href=${address(path, query)}>${text}</a></li>`)}</ul></section>`

/** @param {{ summary: Api.OrganizationSummary }} props */
const Numbers = ({ summary }) => html`<dl class="counts">${[
  [t.active, counted(summary.members.active)], [t.locked, counted(summary.members.locked)], [t.changed, counted(summary.members.changed_in_7_days)],
  [t.connected, formatNumber(summary.connections.connected)], [t.endpoints, formatNumber(sum(summary.webhook_endpoints))],
  [t.published, formatNumber(summary.articles.published)], [t.impressions, formatNumber(summary.ads_in_7_days.impressions)],
].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

const FirstSteps = () => html`<section><h2>${t.first}</h2><ol class="list">${t.steps.map(([path, link, text]) => html`
  <li><a href=${address(path)}>${link}</a> ${text}</li>`)}</ol></section>`

export default ({ role }) => {
  const state = useLoad(signal => get("/v1/organization/summary", undefined, signal), [])
  return html`<${Title} text=${t.title} /><${Loaded} state=${state}>${summary => html`
    <${Attention} items=${attentionOf(summary)} />
    ${role !== "viewer" && summary.members.active.count + summary.members.locked.count === 0 && html`<${FirstSteps} />`}
    <section><h2>${t.numbers}</h2><${Numbers} summary=${summary} /></section>`}<//>`
}
