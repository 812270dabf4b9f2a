// The audit log with its filters.
import { get } from "../lib/api.js"
import { formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { CopyButton, Empty, Filtered, More, SelectField, Table, TextField, Title } from "../ui/parts.js"

const t = texts.audit

/** A day of the browser's time zone as the moment when it begins, or when the next one begins. */
export const momentOf = (day, isEnd) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day ?? "")) return undefined
  const [year, month, date] = day.split("-").map(Number)
  return new Date(year, month - 1, date + (isEnd ? 1 : 0)).toISOString()
}

const parametersOf = ({ action, actor, since, until, subject, admin }) => ({
  action, actor: admin ? undefined : actor, actor_id: admin, subject_id: subject, since: momentOf(since, false), until: momentOf(until, true),
})

const actorOf = entry => entry.actor_email ?? t.actorNames[entry.actor] ?? entry.actor

/** The beginning and the end of an id, which differ between records. */
const shortened = id => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id)

/** The details of an entry as words: "name: sync, role: admin". */
const detailsOf = details => Object.entries(details ?? {}).map(([key, value]) => `${key.replaceAll("_", " ")}: ${value}`).join(", ")

/** @param {{ entry: Api.AuditEntry, filter: (changes: Record<string, string | null>) => void }} props */
const Entry = ({ entry, filter }) => html`<tr>
  <td class="nowrap">${formatTime(entry.created_at)}</td>
  <td>${entry.actor_id ? html`<button type="button" class="link" onClick=${() => filter({ admin: entry.actor_id, actor: "" })}>${actorOf(entry)}</button>` : actorOf(entry)}</td>
  <td>${entry.action}</td>
  <td class="nowrap">${entry.subject_id ? html`<button type="button" class="link" onClick=${() => filter({ subject: entry.subject_id })}><code title=${entry.subject_id}>${shortened(entry.subject_id)}</code></button>` : "–"}</td>
  <td>${detailsOf(entry.details) || "–"}</td>
  <td>${entry.request_id ? html`<${CopyButton} text=${entry.request_id} label=${t.copyRequest} />` : "–"}</td></tr>`

export default () => {
  const { query } = useStore(route)
  const filter = changes => replaceQuery({ ...query, ...changes })
  const list = useList((cursor, signal) => get("/v1/audit-log", { ...parametersOf(query), cursor, limit: 50 }, signal), "audit_log",
    [query.action, query.actor, query.since, query.until, query.subject, query.admin])
  const hasFilter = Object.values(query).some(Boolean)
  return html`<${Title} text=${t.title} />
    <form class="filters" onSubmit=${event => event.preventDefault()}>
      <${SelectField} label=${t.about} value=${query.action ?? ""} options=${t.prefixes} onChange=${action => filter({ action })} />
      <${SelectField} label=${t.by} value=${query.actor ?? ""} options=${t.actors} onChange=${actor => filter({ actor, admin: "" })} />
      <${TextField} label=${t.since} type="date" value=${query.since ?? ""} onInput=${since => filter({ since })} />
      <${TextField} label=${t.until} type="date" value=${query.until ?? ""} onInput=${until => filter({ until })} />
      ${hasFilter && html`<button type="button" onClick=${() => replaceQuery({})}>${t.clear}</button>`}
    </form>
    ${query.admin && html`<p class="faint">${t.oneAdmin}</p>`}${query.subject && html`<p class="faint">${t.oneSubject} <code>${query.subject}</code></p>`}
    <${Filtered} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter ? t.noMatch : t.none} />`
      : html`${list.items.length > 0 && html`<${Table} caption=${t.title} columns=${t.columns}>${list.items.map(entry => html`
          <${Entry} key=${entry.id} entry=${entry} filter=${filter} />`)}<//>`}
        ${list.hasMore && list.items.length === 0 && html`<p class="faint">${t.searching}</p>`}<${More} list=${list} />`}<//>`
}
