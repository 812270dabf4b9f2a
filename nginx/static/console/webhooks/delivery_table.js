// A table of deliveries, each with a link to its page.
import { formatTime } from "../lib/format.js"
import { address } from "../lib/router.js"
import { deliveries as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { Table } from "../ui/parts.js"
import { DeliveryBadge, lastResultOf } from "./parts.js"

export const DeliveryTable = ({ deliveries, caption }) => html`<${Table} caption=${caption} columns=${t.columns} numbers=${[2]}>${deliveries.map(one => html`<tr key=${one.id}>
  <th scope="row"><a href=${address(["webhooks", "deliveries", one.module_installation_id, one.endpoint_id, one.id])}>${one.event_type}</a></th>
  <td><${DeliveryBadge} status=${one.status} /></td><td class="number">${one.attempts.length}</td><td>${lastResultOf(one)}</td>
  <td class="nowrap">${formatTime(one.created_at)}</td></tr>`)}<//>`
