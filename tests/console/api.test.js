import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { call } from "../console/lib/api.js"
import { parse, route } from "../console/lib/router.js"
import { confirmation, signedOut, takeSession } from "../console/lib/session.js"

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
