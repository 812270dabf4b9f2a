import assert from "node:assert/strict"
import test from "node:test"
import { actionName, actionOptions, actorName, detailsOf, pathOf, subjectName } from "../console/audit/entry.js"
import { formatTime } from "../console/lib/format.js"

const ID = "01a1fe89-980d-731b-b847-090113420049"
const OUTER = "01a1fe88-b59f-71eb-9408-55c08b18700b"
const INNER = "01a1fe89-9889-709e-8757-2baeb36afd99"
const entry = (action, changes = {}) => ({ action, subject_id: ID, subject_name: "Name", subject_parents: [], details: {}, actor: "admin", actor_email: null, ...changes })

test("an action has a name, and an unknown one is shown as it is", () => {
  assert.equal(actionName("api_key.issued"), "API key issued")
  assert.equal(actionName("robot.built"), "robot.built")
})

test("a single action that is filtered by is an option with its name", () => {
  assert.deepEqual(actionOptions("api_key.issued").at(-1), ["api_key.issued", "API key issued"])
  assert.deepEqual(actionOptions("api_key."), actionOptions(""))
})

test("an actor has an address, or the name of its kind", () => {
  assert.equal(actorName(entry("a.b", { actor_email: "ada@example.org" })), "ada@example.org")
  assert.equal(actorName(entry("a.b", { actor: "system" })), "Muster")
})

test("a record leads to its screen, with the records that it belongs to", () => {
  assert.deepEqual(pathOf(entry("user.updated")), ["members", ID])
  assert.deepEqual(pathOf(entry("api_key.revoked")), ["keys"])
  assert.deepEqual(pathOf(entry("tracking_key.issued")), ["page-keys", "tracking", ID])
  assert.deepEqual(pathOf(entry("webhook_endpoint.changed", { subject_parents: [OUTER] })), ["webhooks", "endpoints", OUTER, ID])
  assert.deepEqual(pathOf(entry("webhook_delivery.redelivered", { subject_parents: [OUTER, INNER] })), ["webhooks", "deliveries", OUTER, INNER, ID])
  assert.deepEqual(pathOf(entry("ad_creative.deleted", { subject_parents: [OUTER] })), ["ads", OUTER])
  assert.deepEqual(pathOf(entry("organization.renamed", { subject_name: null })), ["organization"])
})

test("a deleted record has no name and no screen", () => {
  const gone = entry("user.removed", { subject_name: null })
  assert.deepEqual([subjectName(gone), pathOf(gone)], [null, null])
  assert.equal(pathOf(entry("session.opened", { subject_id: null, subject_name: null })), null)
})

test("a bulk change and the organization have names of their own", () => {
  assert.equal(subjectName(entry("member_job.created", { subject_name: "lock" })), "Lock members")
  assert.equal(subjectName(entry("member_job.created", { subject_name: null, details: { action: "remove" } })), "Remove members")
  assert.equal(subjectName(entry("organization.renamed", { subject_name: null }), "Riverside"), "Riverside")
})

test("details are words, times and short ids", () => {
  const time = "2026-11-21T14:36:32.777Z"
  const details = { role: "owner", publish_at: time, other_id: ID, name: "paused", status: "paused", new_one: "x" }
  assert.deepEqual(detailsOf(entry("a.b", { details })), [
    { name: "Role", text: "Owner" }, { name: "Publication", text: formatTime(time) }, { name: "other id", text: "01a1fe89…420049", id: ID, path: null },
    { name: "Name", text: "paused" }, { name: "State", text: "paused" }, { name: "new one", text: "x" }])
})

test("details show what changed, and not what the entry says already", () => {
  const details = { name: "Name", burst: "20", previous_burst: "10", rate: "5", previous_rate: "5", previous_role: "admin" }
  assert.deepEqual(detailsOf(entry("api_key.updated", { details })), [{ name: "Requests at once", text: "10 → 20" }, { name: "Role before", text: "Admin" }])
  assert.deepEqual(detailsOf(entry("a.b", { details: { name: "New", previous_name: "Old" } })), [{ name: "Name", text: "Old → New" }])
})

test("origins of a key are shown if there are any", () => {
  const details = { name: "Name", added_origins: "https://a.example https://b.example", removed_origins: "none" }
  assert.deepEqual(detailsOf(entry("tracking_key.updated", { details })), [{ name: "New origins", text: "https://a.example https://b.example" }])
})

test("a name is shown as it was given", () => {
  for (const name of ["2026-99-99T00:00Z", "2026-11-21T14:36:32Z", INNER]) {
    assert.deepEqual(detailsOf(entry("api_key.issued", { details: { name, previous_name: "a" } })), [{ name: "Name", text: `a → ${name}` }])
    assert.deepEqual(detailsOf(entry("a.b", { details: { name } })), [{ name: "Name", text: name }])
  }
  assert.deepEqual(detailsOf(entry("a.b", { details: { publish_at: "2026-99-99T00:00Z" } })), [{ name: "Publication", text: "2026-99-99T00:00Z" }])
})

test("a version is shown as it was given, and other details as words", () => {
  for (const version of ["default", "never", "gone", "2026-11-21T14:36:32Z"]) {
    assert.deepEqual(detailsOf(entry("module.version_created", { details: { version } })), [{ name: "Version", text: version }])
  }
  assert.deepEqual(detailsOf(entry("a.b", { details: { expires_at: "never" } })), [{ name: "End", text: "not set" }])
})

test("the name of a method of objects is text like any other", () => {
  const details = { role: "constructor", action: "constructor", provider: "constructor" }
  assert.deepEqual(detailsOf(entry("a.b", { details })).map(({ text }) => text), Array(3).fill("constructor"))
  assert.deepEqual(actionOptions("constructor").at(-1), ["constructor", "constructor"])
})

test("a campaign that no longer exists has no link", () => {
  const pathOfCampaign = parents => detailsOf(entry("ad_creative.deleted", { details: { campaign_id: OUTER }, subject_parents: parents }))[0].path
  assert.deepEqual([pathOfCampaign([OUTER]), pathOfCampaign([])], [["ads", OUTER], null])
})

test("details lead to the screens of their records", () => {
  const pathsOf = (action, details, changes = {}) => detailsOf(entry(action, { details, ...changes })).map(({ path }) => path)
  assert.deepEqual(pathsOf("api_key.rotated", { successor: INNER }), [["keys"]])
  assert.deepEqual(pathsOf("module.published", { version_id: INNER, version: "1.0.0" }), [["modules", ID, "versions", INNER], undefined])
  assert.deepEqual(pathsOf("installation.created", { module_id: OUTER, version_id: INNER }), [["modules", OUTER], ["modules", OUTER, "versions", INNER]])
  assert.deepEqual(pathsOf("installation.changed", { version_id: INNER }), [null])
  assert.deepEqual(pathsOf("webhook_delivery.redelivered", { endpoint_id: INNER }, { subject_parents: [OUTER, INNER] }), [["webhooks", "endpoints", OUTER, INNER]])
  assert.deepEqual(pathsOf("webhook_delivery.redelivered", { endpoint_id: INNER }), [null])
})
