// Parts that several screens of ads use.
import { formatPercent } from "../lib/format.js"
import { ads as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const KINDS = { shown: "good", waiting: "warn", not_begun: "warn", problem: "bad", paused: "plain", ended: "plain" }
const OF_CREATIVES = ["no_creative", "no_fitting_creative"]

/** The state of a campaign, from the reasons why it shows nothing. @param {string[]} reasons */
export const stateOf = reasons => {
  const own = ["ended", "paused", "not_begun"].find(one => reasons.includes(one))
  if (own) return own
  if (reasons.some(one => OF_CREATIVES.includes(one))) return "problem"
  return reasons.length > 0 ? "waiting" : "shown"
}

/** What the state alone does not say, as sentences. @returns {string[]} */
export const remarksOf = ({ not_shown_because: reasons, slots_without_creative: without }) => [
  ...reasons.filter(one => one !== stateOf(reasons)).map(one => t.reasons[one] ?? one),
  ...(without > 0 && !reasons.some(one => OF_CREATIVES.includes(one)) ? [t.slotsWithout(without)] : []),
]

export const StateBadge = ({ reasons }) => html`<${Badge} kind=${KINDS[stateOf(reasons)]}>${t.states[stateOf(reasons)]}<//>`

export const Remarks = ({ figures }) => remarksOf(figures).map(line => html`<p class="remark">${line}</p>`)

export const servedOf = figures => (figures.served_today === null ? t.noLimit : t.served(figures.served_today, figures.daily_impressions))

/** Clicks of 100 impressions. */
export const rateOf = ({ impressions, clicks }) => (impressions === 0 ? "–" : formatPercent(clicks / impressions))

export const sizeOf = ({ width, height }) => t.size(width, height)
