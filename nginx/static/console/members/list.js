// The members of an organization: search, filters, total and pages.
import { get } from "../lib/api.js"
import { formatDay, formatNumber, plural } from "../lib/format.js"
import { useAction, useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { imports } from "../lib/texts_imports.js"
import { addMember, filters as f, memberJobs, members as t } from "../lib/texts_members.js"
import { html, useLayoutEffect, useState } from "../lib/view.js"
import { Empty, ErrorBox, Filtered, More, SelectField, Table, Title } from "../ui/parts.js"
import { ClearFilters, SearchField } from "../ui/search.js"
import { AddMember } from "./add.js"
import { BulkChange } from "./bulk.js"
import { hasMore, isAddress, isFiltered, parametersOf } from "./conditions.js"
import { Export } from "./export.js"
import { withLabels } from "./faults.js"
import { MoreFilters } from "./filters.js"
import { StatusBadge, nameOf } from "./parts.js"

const EMPTY_PAGES = 10 // pages without a match that are read on at once

/** A page of members. The API examines about 2,000 for a page, so a page can be empty although more follow. */
const readPage = async (parameters, cursor, signal) => {
  let page = await get("/v1/users", { ...parameters, limit: 50, cursor, total: cursor ? undefined : "true" }, signal)
  const { total } = page
  for (let read = 1; page.users.length === 0 && page.next_cursor && read < EMPTY_PAGES; read++) {
    page = await get("/v1/users", { ...parameters, limit: 50, cursor: page.next_cursor }, signal)
  }
  return { ...page, total }
}

const total = ({ count, exact }) => (exact ? plural(count, "member") : t.atLeast(formatNumber(count)))

const Rows = ({ list }) => html`
  ${list.items.length === 0 ? html`<p>${f.soFar}</p>` : html`<${Table} caption=${t.title} columns=${t.columns}>${list.items.map(member => html`<tr key=${member.id}>
    <th scope="row"><a href=${address(["members", member.id])}>${nameOf(member)}</a></th>
    <td>${member.email}</td><td><${StatusBadge} status=${member.status} /></td><td>${member.country ?? "–"}</td>
    <td class="nowrap">${formatDay(member.created_at)}</td></tr>`)}<//>`}
  <${More} list=${list} />`

const Filters = ({ query }) => {
  const [isOpen, show] = useState(hasMore(query))
  return html`<form role="search" onSubmit=${event => event.preventDefault()}>
    <div class="filters">
      <${SearchField} label=${t.search} placeholder=${t.searchHint} />
      <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses} onChange=${status => replaceQuery({ ...query, status })} />
      <button type="button" aria-expanded=${isOpen} onClick=${() => show(!isOpen)}>${f.more}</button>
      <${ClearFilters} isFiltered=${isFiltered(query)} />
    </div>
    ${isOpen && html`<${MoreFilters} />`}</form>`
}

const None = ({ query, isAdmin }) => (isFiltered(query)
  ? html`<${Empty} title=${t.noMatch}><p>${isAddress(query.q) ? f.noAddress : t.noMatchHint}</p><//>`
  : html`<${Empty} title=${t.none}><p>${t.noneHint}</p>
      ${isAdmin && html`<p><a class="button primary" href=${address(["imports", "new"])}>${imports.start}</a></p>`}<//>`)

/**
 * Whether the dialog that adds a member is open. A link opens it with `add` in the query, which the history does not keep. An
 * admin who becomes a viewer keeps it, with its text.
 */
const useAdding = isAdmin => {
  const { query } = useStore(route)
  const [isAdding, show] = useState(false)
  useLayoutEffect(() => {
    if (!query.add) return
    show(isAdmin)
    replaceQuery({ ...query, add: "" })
  }, [query.add])
  return /** @type {[boolean, (isOpen: boolean) => void]} */ ([isAdding, show])
}

export default ({ role }) => {
  const { query } = useStore(route)
  const isAdmin = role !== "viewer"
  const [isAdding, add] = useAdding(isAdmin)
  const parameters = parametersOf(query)
  const list = useList((cursor, signal) => readPage(parameters, cursor, signal).catch(async error => { throw await withLabels(error, signal) }), "users", [JSON.stringify(parameters)])
  const exporting = useAction()
  const hasSome = list.items.length > 0 || list.hasMore
  return html`<${Title} text=${t.title} actions=${html`<${Export} filters=${parameters} exporting=${exporting} />
      <${BulkChange} query=${query} isAdmin=${isAdmin} isDisabled=${!hasSome || isAddress(query.q)} label=${memberJobs.start} />
      ${isAdmin && html`<button type="button" class="primary" onClick=${() => add(true)}>${addMember.title}</button>`}`} />
    ${isAdding && html`<${AddMember} reload=${list.reload} onClose=${() => add(false)} />`}
    <${Filters} query=${query} />
    <${Filtered} state=${list}>${data => html`
      ${data.total?.count > 0 && html`<p class="faint" role="status">${total(data.total)}</p>`}
      ${isAdmin && hasSome && isAddress(query.q) && html`<p class="faint">${f.oneAddress}</p>`}
      ${hasSome ? html`<${Rows} list=${list} />` : html`<${None} query=${query} isAdmin=${isAdmin} />`}`}<//>
    <${ErrorBox} error=${exporting.error} isLow=${true} />`
}
