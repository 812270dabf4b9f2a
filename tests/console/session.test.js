import assert from "node:assert/strict"
import test from "node:test"
import { endOf, idleLifeOf, lastUse, noteUse, serverNow } from "../console/lib/session_end.js"
import { confirmation, confirmFactor, endSession, followTabs, session, signedOut, takeSession } from "../console/lib/session.js"
import { readSetting } from "../console/lib/settings.js"
import { question } from "../console/lib/unsaved.js"
import { restOf } from "../console/imports/job.js"
import { programOf } from "../console/account/programs.js"
import { actionsOf } from "../console/team/list.js"

const HOUR = 3_600_000
const verified = { two_factor: { enrolled: true, verified: true }, admin: { id: "a" }, seats: [{ organization_id: "o" }], invitations: [],
  active_organization_id: "o", expires_at: "2026-11-28T14:00:00Z" }

test("a session that ends in use keeps its seats, so that the page stays", () => {
  takeSession(verified)
  endSession()
  assert.deepEqual([session.get().state, session.get().hasEnded, session.get().seats.length], ["out", true, 1])
  endSession()
  assert.equal(session.get().hasEnded, true)
  const { admin, ...again } = verified
  takeSession({ ...again, two_factor: { enrolled: true, verified: false } })
  assert.deepEqual([session.get().state, session.get().hasEnded, session.get().admin], ["factor", true, admin])
  takeSession(verified)
  assert.deepEqual([session.get().state, session.get().hasEnded], ["in", false])
})

test("another address during the second factor keeps the page below the sign-in", () => {
  const unverified = { ...verified, two_factor: { enrolled: true, verified: false } }
  takeSession(verified)
  endSession()
  takeSession(unverified)
  endSession()
  assert.deepEqual([session.get().state, session.get().hasEnded, session.get().seats.length], ["out", true, 1])
  signedOut()
  takeSession(unverified)
  endSession()
  assert.deepEqual([session.get().state, session.get().hasEnded, session.get().admin, readSetting("session")], ["out", false, null, "ended"])
})

test("a question ends with the person who was asked", () => {
  const answers = []
  for (const end of [signedOut, () => takeSession({ ...verified, admin: { id: "b" } })]) {
    takeSession(verified)
    question.set({ answer: leaves => { question.set({ answer: null }); answers.push(leaves) } })
    end()
  }
  assert.deepEqual([answers, question.get().answer], [[false, false], null])
})

test("a sign-out forgets the person", () => {
  takeSession(verified)
  signedOut()
  assert.deepEqual([session.get().state, session.get().hasEnded, session.get().admin, session.get().seats], ["out", false, null, []])
})

test("the question for a code ends with the person whom it asks", async () => {
  takeSession(verified)
  const ofFirst = confirmFactor()
  endSession()
  takeSession(verified)
  assert.notEqual(confirmation.get().done, null)
  takeSession({ ...verified, admin: { id: "b" } })
  assert.deepEqual([await ofFirst, confirmation.get().done], [false, null])
  const ofSecond = confirmFactor()
  signedOut()
  assert.deepEqual([await ofSecond, confirmation.get().done], [false, null])
})

test("a sign-out in another tab ends the question for a code", async () => {
  const events = new EventTarget()
  globalThis.addEventListener = events.addEventListener.bind(events)
  takeSession(verified)
  followTabs(() => {})
  const asked = confirmFactor()
  events.dispatchEvent(Object.assign(new Event("storage"), { key: "muster.session", newValue: null }))
  assert.deepEqual([await asked, session.get().state], [false, "out"])
})

test("a second question for a code replaces the first one", async () => {
  const first = confirmFactor()
  const second = confirmFactor()
  confirmation.get().done(true)
  assert.deepEqual([await first, await second], [false, true])
})

test("an unused session ends before its last day, and a used one on it", () => {
  const record = { last_used_at: "2026-11-21T15:00:00Z", idle_expires_at: "2026-11-22T03:00:00Z", expires_at: "2026-11-28T14:00:00Z" }
  assert.equal(idleLifeOf(record), 12 * HOUR)
  assert.equal(idleLifeOf({ ...record, idle_expires_at: record.expires_at }), null)
  assert.equal(idleLifeOf(undefined), null)
  const used = Date.parse(record.last_used_at)
  const known = { used, idleLife: 12 * HOUR, expiresAt: record.expires_at }
  assert.deepEqual(endOf({ ...known, now: used + HOUR }), { kind: "idle", at: used + 12 * HOUR - 60_000, isNear: false, isOver: false })
  assert.equal(endOf({ ...known, now: used + 11.9 * HOUR }).isNear, true)
  assert.equal(endOf({ ...known, now: used + 12.1 * HOUR }).isOver, true)
  assert.equal(endOf({ ...known, used: Date.parse(record.expires_at) - HOUR, now: used }).kind, "fixed")
})

test("the server's clock counts, not the browser's", () => {
  const repliedAt = time => noteUse(new Response(null, { headers: { Date: new Date(time).toUTCString() } }))
  const job = { phase_started_at: new Date(Date.now() - HOUR - 100_000).toISOString(), queue_position: 0, processed_rows: 10_000, staged_rows: 20_000 }
  repliedAt(Date.now() - HOUR) // the browser's clock is an hour ahead
  assert.match(restOf(job), /^– 100 rows per second/)
  assert.ok(Math.abs(serverNow() - (Date.now() - HOUR)) < 1000)
  assert.ok(Math.abs(lastUse() - serverNow()) < 1000)
  noteUse(new Response())
  assert.ok(serverNow() < Date.now() - HOUR / 2)
  repliedAt(Date.now() - 2000) // a slow reply
  assert.ok(Math.abs(serverNow() - Date.now()) < 1000)
})

test("a browser is named by what it sends", () => {
  assert.equal(programOf("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"), "Firefox 145 on Windows")
  assert.equal(programOf("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0"), "Edge 142 on Linux")
  assert.equal(programOf("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1"), "Safari 18 on iOS")
  assert.equal(programOf("curl/8.1"), "curl/8.1")
})

test("a browser that also names Chrome or Safari has its own name", () => {
  const android = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)"
  const ios = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
  assert.equal(programOf(`${android} Chrome/124.0.0.0 Mobile Safari/537.36 EdgA/124.0.2478.64`), "Edge 124 on Android")
  assert.equal(programOf(`${android} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`), "Samsung Internet 28 on Android")
  assert.equal(programOf(`${ios} Version/17.0 EdgiOS/124.0.2478.71 Mobile/15E148 Safari/605.1.15`), "Edge 124 on iOS")
  assert.equal(programOf(`${ios} CriOS/125.0.6422.80 Mobile/15E148 Safari/604.1`), "Chrome 125 on iOS")
  assert.equal(programOf(`${ios} FxiOS/126.0 Mobile/15E148 Safari/605.1.15`), "Firefox 126 on iOS")
  assert.equal(programOf(`${ios} Version/17.5 Mobile/15E148 Safari/604.1 OPT/4.7.0`), "Opera 4 on iOS")
})

test("each person may leave, and only owners manage the others", () => {
  assert.deepEqual(actionsOf({}, false, true), ["leave"])
  assert.deepEqual(actionsOf({}, true, true), ["role", "leave"])
  assert.deepEqual(actionsOf({}, false, false), [])
  assert.deepEqual(actionsOf({ invitation_id: "i" }, true, false), ["resend", "withdraw"])
  assert.deepEqual(actionsOf({}, true, false), ["role", "remove"])
})
