// The audit log with its filters.
import { get } from "../lib/api.js"
import { formatTime, momentOf } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { audit as t } from "../lib/texts_audit.js"
import { html } from "../lib/view.js"
import { CopyButton, Empty, Filtered, More, SelectField, Table, TextField, Title } from "../ui/parts.js"
import { ClearFilters } from "../ui/search.js"
import { actionName, actionOptions, actorName, detailsOf, pathOf, shortened, subjectName } from "./entry.js"

const parametersOf = ({ action, actor, since, until, subject, admin }) => ({
  action, actor: admin ? undefined : actor, actor_id: admin, subject_id: subject, since: momentOf(since, false), until: momentOf(until, true),
})

const FilterButton = ({ text, label, title, onClick }) => html`<button type="button" class="link" aria-label=${label} title=${title ?? label}
  onClick=${onClick}>${text}</button>`

/** @param {{ entry: Api.AuditEntry }} props */
const Details = ({ entry }) => {
  const parts = detailsOf(entry)
  if (parts.length === 0 && !entry.request_id) return "–"
  return html`<ul class="plain-list">${parts.map(({ name, text, id, path }) => html`<li><bdi>${name}</bdi>: ${path ? html`<a title=${id} aria-label=${`${text}: ${name}`} href=${address(path)}>${text}</a>`
    : id ? html`<code title=${id}>${text}</code>` : text}</li>`)}
    ${entry.request_id && html`<li><${CopyButton} text=${entry.request_id} label=${t.copyRequest} /></li>`}</ul>`
}

/** @param {{ entry: Api.AuditEntry, organization?: string }} props organization: the name of the current one */
const Subject = ({ entry, organization }) => {
  const name = subjectName(entry, organization)
  const path = pathOf(entry)
  const text = name ?? html`<code>${shortened(entry.subject_id ?? "")}</code>`
  return html`<span title=${entry.subject_id}>${path ? html`<a href=${address(path)}>${text}</a>` : text}</span>
    ${name === null && html` <span class="faint">${t.gone}</span>`}`
}

/** @param {{ entry: Api.AuditEntry, organization?: string, query: any, filter: (changes: Record<string, string | null | undefined>) => void }} props */
const Entry = ({ entry, organization, query, filter }) => html`<tr>
  <td class="nowrap">${formatTime(entry.created_at)}</td>
  <td>${entry.actor_id && !query.admin ? html`<${FilterButton} text=${actorName(entry)} label=${t.filterBy(actorName(entry))}
    onClick=${() => filter({ admin: entry.actor_id, actor: "" })} />` : actorName(entry)}</td>
  <td><${FilterButton} text=${actionName(entry.action)} label=${t.filterAction(actionName(entry.action))} title=${entry.action}
    onClick=${() => filter({ action: entry.action })} /></td>
  <td>${entry.subject_id ? html`<${Subject} entry=${entry} organization=${organization} />${!query.subject && html` <button type="button" class="small"
    aria-label=${t.filterSubject(subjectName(entry, organization) ?? entry.subject_id)} onClick=${() => filter({ subject: entry.subject_id })}>${t.filter}</button>`}` : "–"}</td>
  <td><${Details} entry=${entry} /></td></tr>`

/** What the list is limited to by a button of an entry: an admin, a record. */
const Limits = ({ query, entries, organization }) => {
  const byAdmin = entries.find(one => one.actor_id === query.admin)
  const about = entries.find(one => one.subject_id === query.subject)
  return html`${query.admin && html`<p class="faint">${t.oneAdmin(byAdmin && actorName(byAdmin))}</p>`}
    ${query.subject && html`<p class="faint">${t.oneSubject} <bdi>${(about && subjectName(about, organization)) ?? ""}</bdi> <code>${query.subject}</code></p>`}`
}

export default () => {
  const { query, organization: id } = useStore(route)
  const { seats } = useStore(session)
  const organization = seats.find(one => one.organization_id === id)?.name
  const filter = changes => replaceQuery({ ...query, ...changes })
  const list = useList((cursor, signal) => get("/v1/audit-log", { ...parametersOf(query), cursor, limit: 50 }, signal), "audit_log",
    [query.action, query.actor, query.since, query.until, query.subject, query.admin])
  const hasFilter = Object.values(query).some(Boolean)
  return html`<${Title} text=${t.title} /><p>${t.hint}</p>
    <form class="filters" onSubmit=${event => event.preventDefault()}>
      <${SelectField} label=${t.about} value=${query.action ?? ""} options=${actionOptions(query.action)} onChange=${action => filter({ action })} />
      <${SelectField} label=${t.by} value=${query.actor ?? ""} options=${t.actors} onChange=${actor => filter({ actor, admin: "" })} />
      <${TextField} label=${texts.parts.since} type="date" value=${query.since ?? ""} onInput=${since => filter({ since })} />
      <${TextField} label=${texts.parts.until} type="date" value=${query.until ?? ""} onInput=${until => filter({ until })} />
      <${ClearFilters} isFiltered=${hasFilter} />
    </form>
    <${Limits} query=${query} entries=${list.items} organization=${organization} />
    <${Filtered} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter ? t.noMatch : t.none} />`
      : html`${list.items.length > 0 && html`<${Table} caption=${t.title} columns=${t.columns}>${list.items.map(entry => html`
          <${Entry} key=${entry.id} entry=${entry} organization=${organization} query=${query} filter=${filter} />`)}<//>`}
        ${list.hasMore && list.items.length === 0 && html`<p class="faint">${t.searching}</p>`}<${More} list=${list} />`}<//>`
}
