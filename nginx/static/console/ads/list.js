// The campaigns of an organization with their figures, and why one shows nothing.
import { get } from "../lib/api.js"
import { formatNumber } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { ads as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { Empty, Filtered, More, SelectField, Table, Title } from "../ui/parts.js"
import { Remarks, StateBadge, rateOf, servedOf } from "./parts.js"

const Row = ({ figures }) => html`<tr>
  <th scope="row"><a href=${address(["ads", figures.campaign_id])}>${figures.name}</a></th>
  <td><${StateBadge} reasons=${figures.not_shown_because} /><${Remarks} figures=${figures} /></td>
  <td class="number">${servedOf(figures)}</td><td class="number">${formatNumber(figures.impressions)}</td>
  <td class="number">${formatNumber(figures.clicks)}</td><td class="number">${rateOf(figures)}</td></tr>`

const FirstSteps = ({ isAdmin }) => html`<${Empty} title=${t.none}>${isAdmin && html`<ol class="list">${t.steps.map(([path, link, text]) => html`
  <li><a href=${address(path)}>${link}</a> ${text}</li>`)}</ol>`}<//>`

export default ({ role }) => {
  const { query } = useStore(route)
  const days = t.periods.some(([value]) => value === query.days) ? query.days : t.periods[0][0]
  const list = useList((cursor, signal) => get("/console/v1/ads/figures", { days, cursor, limit: 50 }, signal), "campaigns", [days])
  const isAdmin = role !== "viewer"
  return html`<${Title} text=${t.title} actions=${isAdmin && html`<a class="button primary" href=${address(["ads", "new"])}>${t.create}</a>`} />
    <p>${t.hint}</p>
    <div class="filters"><${SelectField} label=${t.period} value=${days} options=${t.periods} onChange=${value => replaceQuery({ ...query, days: value })} /></div>
    <${Filtered} state=${list}>${() => list.items.length === 0 && !list.hasMore
      ? html`<${FirstSteps} isAdmin=${isAdmin} />`
      : html`<${Table} caption=${t.title} columns=${t.columns} numbers=${[2, 3, 4, 5]}>${list.items.map(figures => html`
          <${Row} key=${figures.campaign_id} figures=${figures} />`)}<//>
        <p class="hint">${t.utc}</p><${More} list=${list} />`}<//>`
}
