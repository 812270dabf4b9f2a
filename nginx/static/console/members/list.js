// The members of an organization: search, filters, total and pages.
import { get } from "../lib/api.js"
import { formatDay, formatNumber, plural } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { Empty, Loaded, More, SelectField, Table, Title } from "../ui/parts.js"
import { SearchField } from "../ui/search.js"
import { Export } from "./export.js"
import { StatusBadge, nameOf } from "./parts.js"

const t = texts.members

/** The parameters of the API for what the person searches. The newest members come first if the API can sort them so. */
export const parametersOf = ({ q, status }) => {
  const search = q?.trim() ? (q.includes("@") && /\.\w+$/.test(q) ? { email: q.trim() } : { q: q.trim() }) : {}
  return { ...search, status, ...(search.q ? {} : { order: "newest" }) }
}

const total = ({ count, exact }) => (exact ? plural(count, "member") : t.atLeast(formatNumber(count)))

const Rows = ({ list }) => html`
  <${Table} caption=${t.title} columns=${t.columns}>${list.items.map(member => html`<tr key=${member.id}>
    <th scope="row"><a href=${address(["members", member.id])}>${nameOf(member)}</a></th>
    <td>${member.email}</td><td><${StatusBadge} status=${member.status} /></td><td>${member.country ?? "–"}</td>
    <td class="nowrap">${formatDay(member.created_at)}</td></tr>`)}<//>
  <${More} list=${list} />`

export default () => {
  const { query } = useStore(route)
  const list = useList((cursor, signal) => get("/v1/users",
    { ...parametersOf(query), limit: 50, cursor, total: cursor ? undefined : "true" }, signal), "users", [query.q, query.status])
  const filters = parametersOf(query)
  return html`<${Title} text=${t.title} actions=${html`<${Export} filters=${filters} />`} />
    <form class="filters" role="search" onSubmit=${event => event.preventDefault()}>
      <${SearchField} label=${t.search} placeholder=${t.searchHint} />
      <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses}
        onChange=${status => replaceQuery({ ...query, status })} />
    </form>
    <${Loaded} state=${list}>${data => html`
      ${data.total?.count > 0 && html`<p class="faint" role="status">${total(data.total)}</p>`}
      ${list.items.length || list.hasMore ? html`<${Rows} list=${list} />`
        : html`<${Empty} title=${query.q || query.status ? t.noMatch : t.none}><p>${query.q || query.status ? t.noMatchHint : t.noneHint}</p><//>`}`}<//>`
}
