// The deliveries of all webhook endpoints of the organization, or of one.
import { get } from "../lib/api.js"
import { useList, useLoad } from "../lib/load.js"
import { replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { deliveries as t, endpoints as e } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { momentOf } from "../audit/log.js"
import { Empty, Loaded, More, SelectField, TextField, Title } from "../ui/parts.js"
import { DeliveryTable } from "./delivery_table.js"
import { MUSTER_EVENTS, TEST_EVENT } from "./events.js"
import { Tabs, addressOf } from "./parts.js"

const RESULTS = ["2xx", "http_3xx", "http_4xx", "http_5xx", "timeout", "dns", "connect", "tls", "blocked_address"]

const parametersOf = ({ status, event, result, since, until }) => ({
  status, event_type: event, class: result, since: momentOf(since, false), until: momentOf(until, true),
})

/** The list of the API for an address: that of one endpoint, or of all. */
const endpointPath = ({ installation, endpoint }) => (installation && endpoint
  ? `/v1/installations/${encodeURIComponent(installation)}/webhook-endpoints/${encodeURIComponent(endpoint)}` : null)

const OneEndpoint = ({ path, onAll }) => {
  const { data } = useLoad(signal => get(path, undefined, signal), [path])
  return html`<p>${t.hintOfOne} ${data && html`<a href=${addressOf(data)}>${data.url}</a>`}${" "}
    <button type="button" class="small" onClick=${onAll}>${t.allEndpoints}</button></p>`
}

const Filters = ({ query, filter }) => {
  const types = [...new Set([...MUSTER_EVENTS, TEST_EVENT, query.event].filter(Boolean))]
  return html`<form class="filters" onSubmit=${event => event.preventDefault()}>
    <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses} onChange=${status => filter({ status })} />
    <${SelectField} label=${t.event} value=${query.event ?? ""} options=${[["", t.anyEvent], ...types.map(type => [type, type])]} onChange=${event => filter({ event })} />
    <${SelectField} label=${t.result} value=${query.result ?? ""} options=${[["", t.anyResult], ...RESULTS.map(one => [one, t.classes[one]])]} onChange=${result => filter({ result })} />
    <${TextField} label=${texts.audit.since} type="date" value=${query.since ?? ""} onInput=${since => filter({ since })} />
    <${TextField} label=${texts.audit.until} type="date" value=${query.until ?? ""} onInput=${until => filter({ until })} />
    ${hasFilter(query) && html`<button type="button" onClick=${() => filter({ status: "", event: "", result: "", since: "", until: "" })}>${texts.audit.clear}</button>`}</form>`
}

const hasFilter = ({ status, event, result, since, until }) => [status, event, result, since, until].some(Boolean)

export default () => {
  const { query } = useStore(route)
  const filter = changes => replaceQuery({ ...query, ...changes })
  const path = endpointPath(query)
  const list = useList((cursor, signal) => get(path ? `${path}/deliveries` : "/v1/webhook-deliveries", { ...parametersOf(query), cursor, limit: 50 }, signal),
    "deliveries", [path, query.status, query.event, query.result, query.since, query.until])
  return html`<${Title} text=${e.title} /><${Tabs} current=${e.tabDeliveries} />
    ${path ? html`<${OneEndpoint} path=${path} onAll=${() => filter({ installation: "", endpoint: "" })} />` : html`<p>${t.hint}</p>`}
    <${Filters} query=${query} filter=${filter} />
    <${Loaded} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter(query) ? t.noMatch : t.none}>${!hasFilter(query) && html`<p>${t.noneHint}</p>`}<//>`
      : html`<${DeliveryTable} deliveries=${list.items} caption=${t.title} /><${More} list=${list} />`}<//>`
}
