// A table of events.
import { jsonOf } from "../lib/exact.js"
import { formatClock } from "../lib/format.js"
import { isolate } from "../lib/isolate.js"
import { parse, printed } from "../lib/json.js"
import { address } from "../lib/router.js"
import { events as t } from "../lib/texts_pages.js"
import { html } from "../lib/view.js"
import { Badge, Table } from "../ui/parts.js"

const LONGEST_ID = 16

const shortened = id => (id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID)}…` : id)

/** Metadata with line breaks, and all digits of its exact numbers. @param {any} metadata of a reply that was read with getExactly */
export const dataOf = metadata => printed(parse(jsonOf(metadata)))

const Who = ({ event }) => {
  if (event.user_id) return html`<a href=${address(["members", event.user_id])}>${event.member_external_id ?? t.member}</a>`
  if (event.anonymous_id) return html`${t.visitor} <code title=${event.anonymous_id}>${shortened(event.anonymous_id)}</code>`
  return t.unknown
}

const Data = ({ event }) => (event.metadata === null ? "–" : html`<details><summary>${t.show} <span class="hidden">${t.dataOf(event.action)}</span></summary>
  <pre tabindex="0" role="region" aria-label=${t.dataOf(event.action)}>${dataOf(event.metadata)}</pre></details>`)

/** known: the ids of the events that are not marked as new. */
export const EventTable = ({ events, known }) => html`<${Table} caption=${t.title} columns=${t.columns}>${events.map(event => html`<tr key=${event.id}>
  <td class="nowrap">${formatClock(event.received_at)}</td>
  <th scope="row">${event.action}${event.type && html`<br /><span class="faint">${event.type}</span>`} ${!known.has(event.id) && html`<${Badge} kind="good">${t.isNew}<//>`}</th>
  <td><${Who} event=${event} /></td>
  <td class="nowrap">${t.sources[event.source] ?? event.source}${event.geo_country && html` <span class="faint">${event.geo_country}</span>`}</td>
  <td>${event.tags.map(isolate).join(", ") || "–"}</td><td><${Data} event=${event} /></td></tr>`)}<//>`
