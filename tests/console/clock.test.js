// The browser's clock is two days ahead of the server's.
import assert from "node:assert/strict"
import test from "node:test"
import { withEmptyDays } from "../console/ads/figures.js"
import { numbersOf } from "../console/home/home.js"
import { stateOf } from "../console/keys/list.js"
import { formatAgo } from "../console/lib/format.js"
import { noteUse, serverNow } from "../console/lib/session_end.js"
import { firstSince } from "../console/webhooks/recover.js"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SUMMARY = {
  members: { active: { count: 1, exact: true }, locked: { count: 0, exact: true }, changed_in_7_days: { count: 1, exact: true } },
  connections: { connected: 0 }, webhook_endpoints: {}, articles: { published: 0 }, ads_in_7_days: { impressions: 0 },
}

noteUse(new Response(null, { headers: { Date: new Date(Date.now() - 2 * DAY).toUTCString() } }))

const fromNow = milliseconds => new Date(serverNow() + milliseconds).toISOString()
const isAbout = (time, milliseconds) => Math.abs(new Date(time).getTime() - serverNow() - milliseconds) < 60_000

test("a key that expires tomorrow is active", () => {
  assert.equal(stateOf({ revoked_at: null, expires_at: fromNow(DAY) }), "active")
  assert.equal(stateOf({ revoked_at: null, expires_at: fromNow(-HOUR) }), "expired")
})

test("a time is as long ago as on the server", () => {
  assert.equal(formatAgo(fromNow(-3 * HOUR)), "3 hours ago")
})

test("recovering begins a day before the server's time", () => {
  assert.ok(isAbout(firstSince({ failing_since: null, last_succeeded_at: null }), -DAY))
})

test("the figures of a campaign end with the server's day", () => {
  assert.equal(withEmptyDays([], 30).at(-1).date, fromNow(0).slice(0, 10))
})

test("the link of the changed members begins seven days before the server's time", () => {
  const since = numbersOf(SUMMARY).flatMap(([, , , query]) => query?.since ?? [])
  assert.equal(since.length, 1)
  assert.ok(isAbout(since[0], -7 * DAY))
})
