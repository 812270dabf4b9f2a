// The impressions and clicks of one campaign by day.
import { get } from "../lib/api.js"
import { formatDay, formatNumber } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { serverNow } from "../lib/session_end.js"
import { useStore } from "../lib/store.js"
import { ads as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { Filtered, SelectField } from "../ui/parts.js"
import { Plot } from "../ui/plot.js"
import { rateOf } from "./parts.js"

const DAY = 86_400_000
const SERIES = [{ name: "impressions", label: t.impressions }, { name: "clicks", label: t.clicks }]
const COLUMNS = [[t.day, day => formatDay(day.date)], [t.impressions, day => formatNumber(day.impressions)],
  [t.clicks, day => formatNumber(day.clicks)], [t.rate, rateOf]]

/** Each of the last `count` days (UTC), the earliest first. The API leaves out days without figures. */
export const withEmptyDays = (days, count, now = serverNow()) => {
  const known = new Map(days.map(day => [day.date, day]))
  return Array.from({ length: count }, (_, index) => {
    const date = new Date(now - (count - 1 - index) * DAY).toISOString().slice(0, 10)
    return known.get(date) ?? { date, impressions: 0, clicks: 0 }
  })
}

export const sumOf = days => days.reduce((sum, day) => ({ impressions: sum.impressions + day.impressions, clicks: sum.clicks + day.clicks }),
  { impressions: 0, clicks: 0 })

const Totals = ({ total }) => html`<dl class="counts">${[[t.impressions, formatNumber(total.impressions)], [t.clicks, formatNumber(total.clicks)],
  [t.rate, rateOf(total)]].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

export const Figures = ({ campaign }) => {
  const { query } = useStore(route)
  const days = t.longPeriods.some(([value]) => value === query.days) ? query.days : t.longPeriods[1][0]
  const state = useLoad(signal => get(`/console/v1/ads/campaigns/${campaign.id}/stats`, { days }, signal), [campaign.id, days])
  return html`<section><h2>${t.figures}</h2>
    <div class="filters"><${SelectField} label=${t.period} value=${days} options=${t.longPeriods} onChange=${value => replaceQuery({ ...query, days: value })} /></div>
    <${Filtered} state=${state}>${data => (data.days.length === 0 ? html`<p class="faint">${t.noFigures} ${t.noFiguresHint} <a href=${address(["slots"])}>${t.slotsLink}</a></p>` : html`
      <${Totals} total=${sumOf(data.days)} />
      <${Plot} days=${withEmptyDays(data.days, Number(days))} series=${SERIES} text=${t.plot} caption=${t.byDay} columns=${COLUMNS} />
      <p class="hint">${t.utc}</p>`)}<//></section>`
}
