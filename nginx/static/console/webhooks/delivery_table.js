// A table of deliveries, each with a link to its page.
import { formatTime } from "../lib/format.js"
import { address } from "../lib/router.js"
import { deliveries as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { Table } from "../ui/parts.js"
import { DeliveryBadge, lastResultOf } from "./parts.js"

/**
 * endpoints: of deliveries of more than one, null until they are loaded. Their column has one line for each, so that they move no row.
 * @param {{ deliveries: Api.WebhookDelivery[], caption: string, endpoints?: Array<{ id: string, url: string }> | null }} props
 */
export const DeliveryTable = ({ deliveries, caption, endpoints }) => {
  const urls = new Map((endpoints ?? []).map(({ id, url }) => [id, url]))
  return html`<${Table} caption=${caption} columns=${endpoints === undefined ? t.columns : [...t.columns, t.endpoint]} numbers=${[2]}>${deliveries.map(one => html`<tr key=${one.id}>
  <th scope="row"><a href=${address(["webhooks", "deliveries", one.module_installation_id, one.endpoint_id, one.id])}>${one.event_type}</a></th>
  <td><${DeliveryBadge} status=${one.status} /></td><td class="number">${one.attempts.length}</td><td>${lastResultOf(one)}</td>
  <td class="nowrap">${formatTime(one.created_at)}</td>
  ${endpoints !== undefined && html`<td class="cut" title=${urls.get(one.endpoint_id)}>${urls.get(one.endpoint_id) ?? "–"}</td>`}</tr>`)}<//>`
}
