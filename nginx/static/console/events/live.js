// The newest events of the organization, loaded again every few seconds while a person looks at the page.
import { getExactly } from "../lib/exact.js"
import { useAction } from "../lib/load.js"
import { startRepeating } from "../lib/repeat.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { html, useEffect, useState } from "../lib/view.js"
import { events as t } from "../lib/texts_pages.js"

const INTERVAL = 5000 // milliseconds
const TURNS = 60
const MINUTES = (INTERVAL * TURNS) / 60_000

/**
 * @typedef {object} Live what the page shows
 * @property {Api.RecentEventList | null} page null until the first reply
 * @property {Set<string> | null} known the ids of the events that are not new: those of the first reply, and older ones
 * @property {any} error of the last call
 * @property {boolean} isLive whether the events are loaded again
 */

/**
 * It continues after a new sign-in.
 * @param {number} limit how many events are shown until the person asks for older ones, which ends the repetition
 */
export const useLiveEvents = limit => {
  const [state, show] = useState(/** @type {Live} */ ({ page: null, known: null, error: null, isLive: true }))
  const older = useAction()
  const { state: access } = useStore(session)
  const resume = () => show(before => ({ ...before, error: null, isLive: true }))
  useEffect(() => void (access === "in" && state.error?.status === 401 && resume()), [access])
  useEffect(() => {
    if (!state.isLive) return undefined
    const control = new AbortController()
    const run = async () => {
      try {
        const page = await getExactly("/v1/engagement/events", { limit }, control.signal)
        const known = new Set(page.events.map(event => event.id))
        show(before => (before.isLive ? { ...before, page, error: null, known: before.known ?? known } : before))
        return true
      } catch (error) {
        if (!control.signal.aborted) show(before => (before.isLive ? { ...before, error } : before))
        return false
      }
    }
    const stop = startRepeating({ run, interval: INTERVAL, most: TURNS, onEnd: () => show(before => ({ ...before, isLive: false })) })
    return () => {
      stop()
      control.abort()
    }
  }, [state.isLive])
  const showOlder = () => older.run(async () => {
    show(before => ({ ...before, isLive: false }))
    const { page } = state
    const next = await getExactly("/v1/engagement/events", { limit, cursor: page?.next_cursor })
    show(before => (before.page !== page ? before // it was loaded again in the meantime
      : { ...before, known: new Set([...(before.known ?? []), ...next.events.map(event => event.id)]), page: { events: [...(page?.events ?? []), ...next.events], next_cursor: next.next_cursor } }))
  })
  return { ...state, older, showOlder, resume }
}

/** Says whether new events appear, and continues after a pause. The screen shows the error below the events. */
export const LiveState = ({ live }) => html`<p class="live" role="status"><span class="faint">${live.isLive ? `${t.live} ${t.stopping(MINUTES)}` : t.stopped}</span>
    ${!live.isLive && html`<button type="button" class="small" onClick=${live.resume}>${t.again}</button>`}</p>`
