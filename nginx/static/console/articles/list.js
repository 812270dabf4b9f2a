// The articles of an organization: search, states and pages.
import { get } from "../lib/api.js"
import { formatDay, formatTime } from "../lib/format.js"
import { isolate } from "../lib/isolate.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { articles as t } from "../lib/texts_articles.js"
import { html } from "../lib/view.js"
import { Empty, Filtered, More, SelectField, Table, Title } from "../ui/parts.js"
import { SearchField } from "../ui/search.js"
import { StateBadge } from "./parts.js"

/** @param {{ article: Api.ListedArticle }} props */
const Row = ({ article }) => html`<tr>
  <th scope="row"><a href=${address(["articles", article.id])}>${article.title}</a><br /><code class="faint">${article.slug}</code></th>
  <td><${StateBadge} status=${article.status} /></td>
  <td class="nowrap">${formatTime(article.published_at ?? article.publish_at)}</td>
  <td>${article.locale ?? "–"}</td><td>${article.tags.map(isolate).join(", ") || "–"}</td><td class="nowrap">${formatDay(article.updated_at)}</td></tr>`

export default ({ role }) => {
  const { query } = useStore(route)
  const list = useList((cursor, signal) => get("/console/v1/articles", { q: query.q, status: query.status, limit: 50, cursor }, signal),
    "articles", [query.q, query.status])
  const hasFilter = Boolean(query.q || query.status)
  return html`<${Title} text=${t.title} actions=${role !== "viewer" && html`
      <a class="button primary" href=${address(["articles", "new"])}>${t.write}</a>`} />
    <p>${t.hint}</p>
    <form class="filters" role="search" onSubmit=${event => event.preventDefault()}>
      <${SearchField} label=${t.search} placeholder=${t.searchHint} />
      <${SelectField} label=${t.status} value=${query.status ?? ""} options=${t.statuses}
        onChange=${status => replaceQuery({ ...query, status })} />
    </form>
    <${Filtered} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${Empty} title=${hasFilter ? t.noMatch : t.none}><p>${hasFilter ? t.noMatchHint : t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${t.columns}>${list.items.map(article => html`
          <${Row} key=${article.id} article=${article} />`)}<//><${More} list=${list} />`}<//>`
}
