// node has no IndexedDB, as a browser that refuses it.
import assert from "node:assert/strict"
import test from "node:test"
import { dropOldPlans, forgetPlan, keepPlan, planOf } from "../console/imports/files.js"
import { signedOut, takeSession } from "../console/lib/session.js"

const DAY = 24 * 3600 * 1000
const SESSION = { two_factor: { enrolled: true, verified: true }, admin: { id: "a" }, seats: [], invitations: [],
  active_organization_id: "o", expires_at: "2026-11-28T14:00:00Z" }

test("without the browser's database, the page keeps the plan of an upload until the job takes no more rows", async () => {
  await keepPlan("job", { separator: ";" })
  assert.equal((await planOf("job"))?.separator, ";")
  assert.equal(await planOf("other"), null)
  await forgetPlan("job")
  assert.equal(await planOf("job"), null)
})

test("the page forgets a plan after a day", async context => {
  let now = 1
  context.mock.method(Date, "now", () => now) // the mock timers of node 18, which is Debian's, have no Date
  await keepPlan("job", {})
  now = DAY
  assert.notEqual(await planOf("job"), null)
  now = DAY + 1
  await dropOldPlans()
  assert.equal(await planOf("job"), null)
})

test("the page forgets a plan with the sign-out", async () => {
  takeSession(SESSION)
  await keepPlan("job", {})
  assert.notEqual(await planOf("job"), null)
  signedOut()
  assert.equal(await planOf("job"), null)
})
