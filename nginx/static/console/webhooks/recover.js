// The dialog that sends failed and canceled deliveries of a time again. It counts them first.
import { announce } from "../lib/announce.js"
import { post } from "../lib/api.js"
import { formatNumber, momentIn, plural } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { serverNow } from "../lib/session_end.js"
import { useIsShown } from "../lib/shown.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useState } from "../lib/view.js"
import { localTimeOf } from "../articles/fields.js"
import { FormDialog } from "../ui/dialogs.js"
import { TextField } from "../ui/parts.js"
import { pathOf } from "./parts.js"

const DAY = 86_400_000
const KEPT_DAYS = 30 // deliveries

/** The time from which recovering is probably useful: the first failure, the last success, or a day ago. @param {any} endpoint */
export const firstSince = (endpoint, now = serverNow()) => {
  const from = endpoint.failing_since ?? endpoint.last_succeeded_at
  const time = from ? new Date(from).getTime() : now - DAY
  return new Date(Math.max(Math.min(time, now - DAY), now - KEPT_DAYS * DAY)).toISOString()
}

/** The body of a call: local times as the API takes them; a time that is not complete is left out. */
export const rangeOf = ({ since, until }) => ({ since: momentIn(since), ...(until ? { until: momentIn(until) } : {}) })

export const Recover = ({ endpoint, onDone, onReload, onClose }) => {
  const [range, setRange] = useState({ since: localTimeOf(firstSince(endpoint)), until: "" })
  const [matching, count] = useState(null)
  const [queued, tally] = useState(0)
  const running = useAction()
  const isShown = useIsShown()
  const path = `${pathOf(endpoint)}/recover`
  const change = part => {
    setRange({ ...range, ...part })
    count(null)
    tally(0)
    running.clear()
  }
  const look = async () => count((await post(path, { ...rangeOf(range), dry_run: true })).matching)
  const recover = async () => {
    let sum = 0
    tally(0)
    for (let hasMore = true; hasMore && isShown();) {
      const reply = await post(path, rangeOf(range))
      sum += reply.queued
      hasMore = reply.has_more
      tally(sum)
    }
    await (isShown() ? onDone : onReload)()
    announce(t.recovered(plural(sum, "delivery", "deliveries")))
  }
  const isCounted = matching?.count > 0
  const isHeld = running.isBusy // a call belongs to the range that it was made with
  const faults = running.error?.fields ?? {}
  return html`<${FormDialog} title=${t.recoverTitle} action=${isCounted ? t.recoverNow : t.count} values=${range} running=${running} isShown=${path => path in range} known=${t.recoverErrors}
    submit=${() => running.run(isCounted ? recover : look)} onClose=${onClose}>
    <p>${t.recoverHint}</p>
    <div class="columns"><${TextField} label=${t.since} type="datetime-local" required readonly=${isHeld} value=${range.since} error=${faults.since} onInput=${since => change({ since })} />
      <${TextField} label=${t.until} hint=${t.untilHint} type="datetime-local" readonly=${isHeld} value=${range.until} error=${faults.until} onInput=${until => change({ until })} /></div>
    ${matching && html`<p class="box" role="status">${isCounted ? t.counted(plural(matching.count, "delivery", "deliveries"), matching.exact) : t.noMatching}</p>`}
    ${isHeld && queued > 0 && html`<p role="status">${t.recovering(formatNumber(queued))}</p>`}<//>`
}
