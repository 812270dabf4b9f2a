// The deliveries of all webhook endpoints of the organization.
import { get } from "../lib/api.js"
import { formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { momentOf } from "../audit/log.js"
import { Empty, Loaded, More, SelectField, Table, TextField, Title } from "../ui/parts.js"
import { DeliveryBadge, lastResultOf } from "./parts.js"

const t = texts.deliveries

const parametersOf = ({ status, event, since, until }) => ({
  status, event_type: event, since: momentOf(since, false), until: momentOf(until, true),
})

export default () => {
  const { query } = useStore(route)
  const filter = changes => replaceQuery({ ...query, ...changes })
  const list = useList((cursor, signal) => get("/v1/webhook-deliveries", { ...parametersOf(query), cursor, limit: 50 }, signal), "deliveries",
    [query.status, query.event, query.since, query.until])
  const hasFilter = Object.values(query).some(Boolean)
  return html`<${Title} text=${t.title} /><p>${t.hint}</p>
    <form class="filters" onSubmit=${event => event.preventDefault()}>
      <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses} onChange=${status => filter({ status })} />
      <${SelectField} label=${t.event} value=${query.event ?? ""} options=${t.events} onChange=${event => filter({ event })} />
      <${TextField} label=${texts.audit.since} type="date" value=${query.since ?? ""} onInput=${since => filter({ since })} />
      <${TextField} label=${texts.audit.until} type="date" value=${query.until ?? ""} onInput=${until => filter({ until })} />
      ${hasFilter && html`<button type="button" onClick=${() => replaceQuery({})}>${texts.audit.clear}</button>`}
    </form>
    <${Loaded} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter ? t.noMatch : t.none} />`
      : html`<${Table} caption=${t.title} columns=${t.columns} numbers=${[2]}>${list.items.map(one => html`<tr key=${one.id}>
          <th scope="row"><a href=${address(["deliveries", one.module_installation_id, one.endpoint_id, one.id])}>${one.event_type}</a></th>
          <td><${DeliveryBadge} status=${one.status} /></td><td class="number">${one.attempts.length}</td><td>${lastResultOf(one)}</td>
          <td class="nowrap">${formatTime(one.created_at)}</td></tr>`)}<//><${More} list=${list} />`}<//>`
}
