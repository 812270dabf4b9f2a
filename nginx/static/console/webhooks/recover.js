// The dialog that sends failed and canceled deliveries of a time again. It counts them first.
import { announce } from "../lib/announce.js"
import { post } from "../lib/api.js"
import { formatNumber, momentIn, plural } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useState } from "../lib/view.js"
import { localTimeOf } from "../articles/fields.js"
import { FormDialog } from "../ui/dialogs.js"
import { TextField } from "../ui/parts.js"
import { pathOf } from "./parts.js"

const DAY = 86_400_000
const KEPT_DAYS = 30 // deliveries

/** The time from which recovering is probably useful: the first failure, the last success, or a day ago. @param {any} endpoint */
export const firstSince = (endpoint, now = Date.now()) => {
  const from = endpoint.failing_since ?? endpoint.last_succeeded_at
  const time = from ? new Date(from).getTime() : now - DAY
  return new Date(Math.max(Math.min(time, now - DAY), now - KEPT_DAYS * DAY)).toISOString()
}

/** The body of a call: local times as the API takes them; a time that is not complete is left out. */
export const rangeOf = ({ since, until }) => ({ since: momentIn(since), ...(until ? { until: momentIn(until) } : {}) })

export const Recover = ({ endpoint, onDone, onClose }) => {
  const [range, setRange] = useState({ since: localTimeOf(firstSince(endpoint)), until: "" })
  const [matching, count] = useState(null)
  const [queued, tally] = useState(0)
  const running = useAction()
  const path = `${pathOf(endpoint)}/recover`
  const change = part => {
    setRange({ ...range, ...part })
    count(null)
    running.clear()
  }
  const look = async () => count((await post(path, { ...rangeOf(range), dry_run: true })).matching)
  const recover = async () => {
    let sum = 0
    for (let hasMore = true; hasMore;) {
      const reply = await post(path, rangeOf(range))
      sum += reply.queued
      hasMore = reply.has_more
      tally(sum)
    }
    await onDone()
    announce(t.recovered(plural(sum, "delivery", "deliveries")))
  }
  const isCounted = matching?.count > 0
  const faults = running.error?.fields ?? {}
  return html`<${FormDialog} title=${t.recoverTitle} action=${isCounted ? t.recoverNow : t.count} values=${range} running=${running} isShown=${path => path in range} known=${t.recoverErrors}
    submit=${() => running.run(isCounted ? recover : look)} onClose=${onClose}>
    <p>${t.recoverHint}</p>
    <div class="columns"><${TextField} label=${t.since} type="datetime-local" required value=${range.since} error=${faults.since} onInput=${since => change({ since })} />
      <${TextField} label=${t.until} hint=${t.untilHint} type="datetime-local" value=${range.until} error=${faults.until} onInput=${until => change({ until })} /></div>
    ${matching && html`<p class="box" role="status">${isCounted ? t.counted(plural(matching.count, "delivery", "deliveries"), matching.exact) : t.noMatching}</p>`}
    ${queued > 0 && html`<p role="status">${t.recovering(formatNumber(queued))}</p>`}<//>`
}
