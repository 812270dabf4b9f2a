// Parts that the screens of webhooks use.
import { getAll } from "../lib/api.js"
import { formatAgo, formatNumber } from "../lib/format.js"
import { address } from "../lib/router.js"
import { deliveries as d, endpoints as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { Badge, Table } from "../ui/parts.js"

const DELIVERY_KINDS = { succeeded: "good", failed: "bad", pending: "warn" }
const ENDPOINT_KINDS = { active: "good", failing: "bad", paused: "warn", disabled: "plain" }

export const DeliveryBadge = ({ status }) => html`<${Badge} kind=${DELIVERY_KINDS[status] ?? "plain"}>${d.states[status] ?? status}<//>`

/** The result of an attempt: the status of the answer, or why there was none. */
export const resultOf = attempt => (attempt.status_code ? `HTTP ${attempt.status_code}` : d.classes[attempt.class] ?? attempt.class)

/** What a failed attempt means, and what to do next. */
export const Advice = ({ attempt }) => {
  const [meaning, next] = d.advice[attempt?.class] ?? []
  return meaning && html`<p class="box warning"><strong>${resultOf(attempt)}.</strong> ${meaning} ${next}</p>`
}

export const lastResultOf = delivery => (delivery.attempts.length ? resultOf(delivery.attempts.at(-1)) : "–")

export const pathOf = endpoint => `/v1/installations/${endpoint.module_installation_id}/webhook-endpoints/${endpoint.id}`
export const addressOf = endpoint => address(["webhooks", "endpoints", endpoint.module_installation_id, endpoint.id])

/** @returns {string} active, failing (active, and the last attempt failed), paused or disabled */
export const stateOf = endpoint => (endpoint.status === "active" && endpoint.failing_since ? "failing" : endpoint.status)

export const EndpointBadge = ({ endpoint }) => html`<${Badge} kind=${ENDPOINT_KINDS[stateOf(endpoint)] ?? "plain"}>${t.states[stateOf(endpoint)] ?? endpoint.status}<//>`

/** The links between the two pages of webhooks. */
export const Tabs = ({ current }) => html`<ul class="tabs" aria-label=${t.tabs}>${[
  { path: ["webhooks"], text: t.tabEndpoints }, { path: ["webhooks", "deliveries"], text: t.tabDeliveries },
].map(({ path, text }) => html`<li><a href=${address(path)} aria-current=${current === text ? "page" : undefined}>${text}</a></li>`)}</ul>`

/** `moduleOf`: the name of an endpoint's module; without it, the column is left out. `isOff`: whether its installation is disabled. */
export const EndpointTable = ({ endpoints, moduleOf, isOff }) => {
  const columns = t.columns.filter(text => moduleOf || text !== t.module)
  const first = columns.indexOf(t.columns[3])
  return html`<${Table} caption=${t.title} columns=${columns} numbers=${[first, first + 1]}>${endpoints.map(one => html`<tr key=${one.id}>
    <th scope="row"><a class="address" href=${addressOf(one)}>${one.url}</a>${one.description && html`<br /><span class="faint">${one.description}</span>`}</th>
    ${moduleOf && html`<td>${moduleOf(one)}</td>`}
    <td><${EndpointBadge} endpoint=${one} />${isOff(one) && html`<br /><span class="faint">${t.off}</span>`}</td>
    <td class="number">${formatNumber(one.last_24_hours.succeeded)}</td><td class="number">${formatNumber(one.last_24_hours.failed)}</td>
    <td class="nowrap">${one.last_succeeded_at ? formatAgo(one.last_succeeded_at) : t.never}</td></tr>`)}<//>`
}

export const endpointsOf = (installation, signal) => getAll(`/v1/installations/${installation.id}/webhook-endpoints`, "webhook_endpoints", undefined, signal)
