// Whether the code of a tracking key works: the events of pages, as they arrive, and the last use of the key.
import { get } from "../lib/api.js"
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useEffect, useState } from "../lib/view.js"
import { LiveState, useLiveEvents } from "../events/live.js"
import { EventTable } from "../events/table.js"
import { ErrorBox } from "../ui/parts.js"
import { PATHS } from "./keys.js"

const LOADED = 50 // events; those of modules are left out
const SHOWN = 20
const EXACT = 65_000 // milliseconds; the last use of a key is exact to the minute

/** Whether an event can have come with a key. Events do not name their key. */
export const mayHaveSent = (key, event) =>
  key.last_used_at !== null && new Date(key.last_used_at).getTime() >= new Date(event.received_at).getTime() - EXACT

/** Whether one of the new events came with the key; null until it is known. It asks again with each reply until the key was used. */
const useConfirmation = (record, events, page) => {
  const [isUsed, show] = useState(/** @type {boolean | null} */ (null))
  useEffect(() => {
    if (isUsed || events.length === 0) return undefined
    const control = new AbortController()
    get(`${PATHS.tracking}/${record.id}`, undefined, control.signal).then(
      key => control.signal.aborted || show(events.some(event => mayHaveSent(key, event))),
      () => {}) // the next reply asks again
    return () => control.abort()
  }, [page])
  return isUsed
}

const Result = ({ count, isUsed, isWaiting }) => {
  if (count > 0 && isUsed !== null) return html`<p class="box ${isUsed ? "good" : "warning"}" role="status">${isUsed ? t.came(count) : t.otherKey(count)}</p>`
  return isWaiting && html`<p class="box" role="status">${t.waiting}</p>`
}

export const Works = ({ record }) => {
  const live = useLiveEvents(LOADED)
  const tracked = (live.page?.events ?? []).filter(event => event.source === "tracked")
  const came = tracked.filter(event => !live.known?.has(event.id))
  const isUsed = useConfirmation(record, came, live.page)
  return html`<section><h2>${t.works}</h2><p>${t.worksHint}</p>
    <${Result} count=${came.length} isUsed=${isUsed} isWaiting=${live.isLive && live.page !== null} /><${LiveState} live=${live} />
    ${tracked.length > 0 && html`<p class="faint">${t.anyKey}</p><${EventTable} events=${tracked.slice(0, SHOWN)} known=${live.known} />`}
    ${!isUsed && html`<h3>${t.nothingCame}</h3><ul class="list">${t.checks(record.allowed_origins).map(line => html`<li>${line}</li>`)}</ul>`}
    <${ErrorBox} error=${live.error} isLow=${true} /></section>`
}
