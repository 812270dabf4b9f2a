import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { call, getAll, getFirst, isPassing } from "../console/lib/api.js"
import { parse, route } from "../console/lib/router.js"
import { confirmation, session, signedOut, takeSession } from "../console/lib/session.js"

const HERE = "01a1fd07-6e99-7265-b40a-2831efbbc0ee"
const THERE = "01a1fd07-6e99-7265-b40a-2831efbbc0ef"
const SESSION = { two_factor: { enrolled: true, verified: true }, admin: { id: "a" }, seats: [], invitations: [],
  active_organization_id: HERE, expires_at: "2026-11-28T14:00:00Z" }

const answer = (status, body) => () => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } })
const refusal = (code, reason) => answer(401, { error: { code, message: code, details: { reason } } })
const visit = organization => route.set(parse(`#/o/${organization}/keys`))

/** Answers the requests one after the other. @returns {string[]} the requests that were sent, with their organization */
const serve = (...answers) => {
  const sent = []
  globalThis.fetch = async (path, { method, headers }) => {
    sent.push([method, path, headers["X-Organization"]].filter(Boolean).join(" "))
    return answers.shift()()
  }
  return sent
}

beforeEach(() => {
  signedOut()
  takeSession(SESSION)
  visit(HERE)
})

test("calls about the person name no organization, and all others name it", async () => {
  const sent = serve(...Array(5).fill(answer(200, {})))
  for (const path of ["/v1/session", "/v1/sessions", "/v1/sessions/s", "/v1/two-factor/backup-codes", "/v1/users"]) await call("GET", path)
  assert.deepEqual(sent.map(one => one.includes(HERE)), [false, false, false, false, true])
})

test("a call that waits for a code stays in the organization in which it began", async () => {
  const sent = serve(refusal("2FA_TOO_OLD"), answer(201, { id: "k" }))
  const asked = new Promise(resolve => confirmation.subscribe(() => resolve(confirmation.get())))
  const issuing = call("POST", "/v1/api-keys", { body: {} })
  const { done } = await asked
  visit(THERE)
  done(true)
  await issuing
  assert.deepEqual(sent, Array(2).fill(`POST /v1/api-keys ${HERE}`))
})

test("a request with the cookie before the second factor is repeated", async () => {
  const sent = serve(refusal("UNAUTHORIZED", "SESSION_ENDED"), answer(200, SESSION), answer(200, { users: [] }))
  assert.deepEqual((await call("GET", "/v1/users")).data, { users: [] })
  assert.deepEqual(sent, [`GET /v1/users ${HERE}`, "GET /v1/session", `GET /v1/users ${HERE}`])
  assert.equal(session.get().state, "in")
})

test("a session has ended if the server says so twice", async () => {
  serve(refusal("UNAUTHORIZED", "SESSION_ENDED"), refusal("UNAUTHORIZED", "SESSION_ENDED"))
  await assert.rejects(call("GET", "/v1/users"), { code: "UNAUTHORIZED" })
  assert.deepEqual([session.get().state, session.get().hasEnded], ["out", true])
})

test("a session has not ended because the server is busy", async () => {
  serve(refusal("UNAUTHORIZED", "SESSION_ENDED"), answer(503, { error: { code: "BUSY", message: "busy" } }))
  await assert.rejects(call("GET", "/v1/users"), { code: "BUSY" })
  assert.equal(session.get().state, "in")
})

test("a request is not repeated in the session of another person", async () => {
  const sent = serve(refusal("UNAUTHORIZED", "SESSION_ENDED"), answer(200, { ...SESSION, admin: { id: "b" } }))
  await assert.rejects(call("DELETE", "/v1/users/u"), { code: "UNAUTHORIZED" })
  assert.equal(sent.length, 2)
})

const forbidden = answer(403, { error: { code: "FORBIDDEN", message: "no", details: {} } })

test("after a 403 the seats are read again, and a lost one is remembered", async () => {
  const [here, there] = [HERE, THERE].map(id => ({ organization_id: id, name: id, role: "admin" }))
  takeSession({ ...SESSION, seats: [here, there] })
  const sent = serve(forbidden, answer(200, { ...SESSION, seats: [there] }))
  await assert.rejects(call("GET", "/v1/users"), { code: "FORBIDDEN" })
  assert.deepEqual(sent, [`GET /v1/users ${HERE}`, "GET /v1/session"])
  assert.deepEqual([session.get().seats, session.get().lostSeats], [[there], [here]])
  takeSession({ ...SESSION, seats: [here, there] })
  assert.deepEqual(session.get().lostSeats, [])
})

test("a 403 stays the error if the seats cannot be read", async () => {
  serve(forbidden, () => { throw new TypeError("away") })
  await assert.rejects(call("GET", "/v1/users"), { code: "FORBIDDEN" })
})

test("a reply that is interrupted can be asked for again", async () => {
  serve(() => new Response('{"users": [', { status: 200, headers: { "Content-Type": "application/json" } }))
  await assert.rejects(call("GET", "/v1/users"), error => isPassing(error) && error.code === "UNREADABLE")
})

test("a list is read to its end, or to a number of records", async () => {
  const pages = [answer(200, { imports: ["a", "b"], next_cursor: "1" }), answer(200, { imports: ["c"], next_cursor: null })]
  serve(...pages)
  assert.deepEqual(await getAll("/v1/imports", "imports"), ["a", "b", "c"])
  serve(...pages)
  assert.deepEqual(await getFirst(2, "/v1/imports", "imports"), { records: ["a", "b"], hasMore: true })
  serve(...pages)
  assert.deepEqual(await getFirst(3, "/v1/imports", "imports"), { records: ["a", "b", "c"], hasMore: false })
})
