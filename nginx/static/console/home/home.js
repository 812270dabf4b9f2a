// The organization in numbers, what needs attention, and the next steps.
import { get } from "../lib/api.js"
import { formatNumber, plural } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { serverNow } from "../lib/session_end.js"
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
  summary.active_import && [t.activeImport(summary.active_import.file_name, t.importStates[summary.active_import.state] ?? texts.importStates[summary.active_import.state]),
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

/**
 * The numbers: [name, value, path, query] with the screen, and the filter that gives the number there.
 * @param {Api.OrganizationSummary} summary
 * @returns {Array<[string, string, string[], Record<string, string>?]>}
 */
export const numbersOf = (summary, now = serverNow()) => [
  [t.active, counted(summary.members.active), ["members"], { status: "active" }],
  [t.locked, counted(summary.members.locked), ["members"], { status: "locked" }],
  [t.changed, counted(summary.members.changed_in_7_days), ["members"], { since: new Date(now - 7 * 86_400_000).toISOString() }],
  [t.connected, formatNumber(summary.connections.connected), ["connections"], { state: "connected" }],
  [t.endpoints, formatNumber(sum(summary.webhook_endpoints)), ["webhooks"]],
  [t.published, formatNumber(summary.articles.published), ["articles"], { status: "published" }],
  [t.impressions, formatNumber(summary.ads_in_7_days.impressions), ["ads"], { days: "7" }],
]

const Numbers = ({ summary }) => html`<dl class="counts">${numbersOf(summary).map(([name, value, path, query]) => html`
  <div><dt>${name}</dt><dd><a href=${address(path, query)}><span class="hidden">${name}: </span>${value}</a></dd></div>`)}</dl>`

/** @param {Api.OrganizationSummary} summary */
const hasMembers = ({ members }) => members.active.count + members.locked.count > 0

const MOST_STEPS = 4 // that are shown at once

/**
 * What an admin may do next and has not done yet: [name in texts.steps, path, query].
 * @param {Api.OrganizationSummary} summary @param {string} role
 * @returns {Array<[string, string[], Record<string, string>?]>}
 */
export const stepsOf = (summary, role) => {
  if (role === "viewer") return []
  const { team, articles, valid_keys: keys } = summary
  const steps = /** @type {Array<[string, string[], Record<string, string>?] | false>} */ ([
    !hasMembers(summary) && ["import", ["imports", "new"]],
    !hasMembers(summary) && ["member", ["members"], { add: "1" }],
    summary.enabled_attributes === 0 && ["attributes", ["attributes"]],
    keys.api_keys === 0 && ["keys", ["keys"]],
    role === "owner" && team.owners + team.invited_owners < 2 && ["owner", ["team"]],
    sum(summary.webhook_endpoints) === 0 && ["webhook", ["webhooks"]],
    articles.published + articles.scheduled + articles.draft === 0 && ["article", ["articles", "new"]],
    articles.published + articles.scheduled === 0 && articles.draft > 0 && ["publish", ["articles"], { status: "draft" }],
    keys.tracking_keys === 0 && ["tracking", ["page-keys"]],
  ])
  return steps.filter(one => one !== false).slice(0, MOST_STEPS)
}

const Steps = ({ summary, role }) => {
  const steps = stepsOf(summary, role)
  return steps.length > 0 && html`<section><h2>${hasMembers(summary) ? t.next : t.first}</h2><ul class="list">${steps.map(([name, path, query]) => html`
    <li><a href=${address(path, query)}>${t.steps[name][0]}</a> ${t.steps[name][1]}</li>`)}</ul></section>`
}

export default ({ role }) => {
  const state = useLoad(signal => get("/v1/organization/summary", undefined, signal), [])
  return html`<${Title} text=${t.title} /><${Loaded} state=${state}>${summary => html`
    <${Attention} items=${attentionOf(summary)} />
    ${!hasMembers(summary) && html`<${Steps} summary=${summary} role=${role} />`}
    <section><h2>${t.numbers}</h2><${Numbers} summary=${summary} /></section>
    ${hasMembers(summary) && html`<${Steps} summary=${summary} role=${role} />`}`}<//>`
}
