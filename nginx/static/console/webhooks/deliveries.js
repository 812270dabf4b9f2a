// The deliveries of all webhook endpoints of the organization, or of one.
import { get, getAll } from "../lib/api.js"
import { momentOf } from "../lib/format.js"
import { useList, useLoad } from "../lib/load.js"
import { replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { deliveries as t, endpoints as e } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { Empty, Filtered, More, SelectField, TextField, Title } from "../ui/parts.js"
import { ClearFilters } from "../ui/search.js"
import { DeliveryTable } from "./delivery_table.js"
import { MUSTER_EVENTS, TEST_EVENT } from "./events.js"
import { Tabs, addressOf, endpointsOf } from "./parts.js"

const RESULTS = ["2xx", "http_3xx", "http_4xx", "http_5xx", "timeout", "dns", "connect", "tls", "blocked_address", "internal"]

const parametersOf = ({ status, event, result, since, until }) => ({
  status, event_type: event, class: result, since: momentOf(since, false), until: momentOf(until, true),
})

/** The list of the API for an address: that of one endpoint, or of all. */
const endpointPath = ({ installation, endpoint }) => (installation && endpoint
  ? `/v1/installations/${encodeURIComponent(installation)}/webhook-endpoints/${encodeURIComponent(endpoint)}` : null)

const AT_ONCE = 25 // installations whose endpoints are read at the same time

const readEndpoints = async (path, signal) => {
  if (path) return [await get(path, undefined, signal)]
  const installations = await getAll("/v1/installations", "installations", undefined, signal)
  const endpoints = []
  for (let begin = 0; begin < installations.length; begin += AT_ONCE) {
    const lists = await Promise.all(installations.slice(begin, begin + AT_ONCE).map(one => endpointsOf(one, signal)))
    endpoints.push(...lists.flat())
  }
  return endpoints
}

/**
 * The event types to choose from: those of Muster, then those of modules. A delivery has a type of a module only if an endpoint
 * subscribes to it, or did so before. @param {Array<{ subscribed_event_types: string[] }>} endpoints @param {string[]} seen types of deliveries
 */
export const eventTypesOf = (endpoints, seen) => {
  const own = [...MUSTER_EVENTS, TEST_EVENT]
  const all = new Set([...endpoints.flatMap(one => one.subscribed_event_types), ...seen])
  return [...own, ...[...all].filter(type => !own.includes(type)).sort()]
}

const OneEndpoint = ({ endpoint, onAll }) => html`<p><button type="button" class="small" onClick=${onAll}>${t.allEndpoints}</button></p>
  <p>${t.hintOfOne} ${endpoint && html`<a href=${addressOf(endpoint)}>${endpoint.url}</a>`}</p>`

/** types: of events. isPartial: some of them could not be read. */
const Filters = ({ query, filter, types, isPartial }) => html`
  <form class="filters" onSubmit=${event => event.preventDefault()}>
    <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses} onChange=${status => filter({ status })} />
    <${SelectField} label=${t.event} value=${query.event ?? ""} error=${isPartial && t.typesMissing} options=${[["", t.anyEvent], ...types.map(type => [type, type])]}
      onChange=${event => filter({ event })} />
    <${SelectField} label=${t.result} value=${query.result ?? ""} options=${[["", t.anyResult], ...RESULTS.map(one => [one, t.classes[one]])]} onChange=${result => filter({ result })} />
    <${TextField} label=${texts.parts.since} type="date" value=${query.since ?? ""} onInput=${since => filter({ since })} />
    <${TextField} label=${texts.parts.until} type="date" value=${query.until ?? ""} onInput=${until => filter({ until })} />
    <${ClearFilters} isFiltered=${hasFilter(query)} kept=${{ installation: query.installation, endpoint: query.endpoint }} /></form>`

const hasFilter = ({ status, event, result, since, until }) => [status, event, result, since, until].some(Boolean)

export default () => {
  const { query } = useStore(route)
  const filter = changes => replaceQuery({ ...query, ...changes })
  const path = endpointPath(query)
  const endpoints = useLoad(signal => readEndpoints(path, signal), [path])
  const list = useList((cursor, signal) => get(path ? `${path}/deliveries` : "/v1/webhook-deliveries", { ...parametersOf(query), cursor, limit: 50 }, signal),
    "deliveries", [path, query.status, query.event, query.result, query.since, query.until])
  const known = endpoints.isOld ? null : endpoints.data
  const types = eventTypesOf(known ?? [], [...list.items.map(one => one.event_type), ...(known || !query.event ? [] : [query.event])])
  return html`<${Title} text=${e.title} /><${Tabs} current=${e.tabDeliveries} />
    ${path ? html`<${OneEndpoint} endpoint=${known?.[0]} onAll=${() => filter({ installation: "", endpoint: "" })} />` : html`<p>${t.hint}</p>`}
    <${Filters} query=${query} filter=${filter} types=${types} isPartial=${Boolean(endpoints.error)} />
    <${Filtered} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter(query) ? t.noMatch : t.none}>${!hasFilter(query) && html`<p>${t.noneHint}</p>`}<//>`
      : html`<${DeliveryTable} deliveries=${list.items} caption=${t.title} endpoints=${path ? undefined : known} /><${More} list=${list} />`}<//>`
}
