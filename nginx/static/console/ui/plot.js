// Figures by day: bars, and a table with the same numbers.
import { formatDay, formatNumber } from "../lib/format.js"
import { html } from "../lib/view.js"
import { Table } from "./parts.js"

const HEIGHT = 100 // of the drawing, in its own units; one day is one unit wide

const sumOf = (days, name) => days.reduce((sum, day) => sum + day[name], 0)

/** The bars of one series: [day, height], the highest as high as the drawing. @returns {Array<[any, number]>} */
export const barsOf = (days, name) => {
  const most = Math.max(...days.map(day => day[name]), 0)
  return days.map(day => [day, most === 0 ? 0 : (day[name] / most) * HEIGHT])
}

/** One series: { name of the number in a day, label }. text: says the figures of one day, or of all. */
const Bars = ({ days, series, text }) => {
  const best = days.reduce((found, day) => (day[series.name] > found[series.name] ? day : found), days[0])
  const most = best[series.name]
  return html`<figure class="plot"><figcaption>${series.label}</figcaption>
    <p class="scale" aria-hidden="true">${formatNumber(most)}</p>
    <svg role="img" aria-label=${text.all(series.label, sumOf(days, series.name), best.date, most)} viewBox=${`0 0 ${days.length} ${HEIGHT}`}
      preserveAspectRatio="none">${barsOf(days, series.name).map(([day, height], index) => html`<g key=${day.date}>
        <title>${text.day(day.date, series.label, day[series.name])}</title>
        <rect class="day" x=${index} y="0" width="1" height=${HEIGHT} />
        <rect class="bar" x=${index + 0.1} y=${HEIGHT - height} width="0.8" height=${height} /></g>`)}</svg>
    <p class="scale" aria-hidden="true"><span>${formatDay(days[0].date)}</span><span>${formatDay(days.at(-1).date)}</span></p></figure>`
}

/** days: with a date each, the earliest first, at least one. columns: of the table, after that of the day. */
export const Plot = ({ days, series, text, caption, columns }) => html`
  <div class="plots">${series.map(one => html`<${Bars} key=${one.name} days=${days} series=${one} text=${text} />`)}</div>
  <div class="tall"><${Table} caption=${caption} columns=${columns.map(([name]) => name)} numbers=${columns.slice(1).map((_, index) => index + 1)}>
    ${[...days].reverse().map(day => html`<tr key=${day.date}>${columns.map(([, valueOf], index) => (index === 0
      ? html`<th scope="row">${valueOf(day)}</th>` : html`<td class="number">${valueOf(day)}</td>`))}</tr>`)}<//></div>`
