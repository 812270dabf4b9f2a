import assert from "node:assert/strict"
import test from "node:test"
import { bodyOf, choicesIn } from "../console/attributes/edit.js"
import { attentionOf, numbersOf, stepsOf } from "../console/home/home.js"
import { stateOf } from "../console/keys/list.js"
import { stateOf as stateOfImport } from "../console/imports/parts.js"
import { formatAgo, formatDay, formatDuration, momentOf, plural } from "../console/lib/format.js"
import { memberOf } from "../console/members/add.js"
import { changesOf, choicesOf } from "../console/members/edit.js"
import { SCREENS } from "../console/ui/screens.js"

test("only what differs is sent, and null clears a value", () => {
  const member = { first_name: "Ann", last_name: null, attributes: { phone: "1", vip: true } }
  const fields = { first_name: "", last_name: "Berg", display_name: "", external_id: "", locale: "", country: "", dob: "" }
  const registry = [{ key: "phone" }, { key: "vip" }, { key: "boat" }]
  assert.deepEqual(changesOf(member, fields, { phone: "", vip: true, boat: "four" }, registry),
    { first_name: null, last_name: "Berg", attributes: { phone: null, boat: "four" } })
})

test("the form of a member keeps a number as typed, and sends it as a number", () => {
  const registry = [{ key: "points", type: "number" }, { key: "vip", type: "boolean" }]
  const fields = { first_name: "", last_name: "", display_name: "", external_id: "", locale: "", country: "", dob: "" }
  const changes = attributes => changesOf({ attributes: { points: 2, vip: true } }, fields, attributes, registry).attributes
  assert.deepEqual(changes({ points: "0.5", vip: "false" }), { points: 0.5, vip: false })
  assert.deepEqual(changes({ points: "2.", vip: "true" }), undefined)
  assert.deepEqual(changes({ points: "two", vip: "" }), { points: "two", vip: null })
})

test("a key is active until it is revoked or expired", () => {
  assert.equal(stateOf({ revoked_at: null, expires_at: null }), "active")
  assert.equal(stateOf({ revoked_at: null, expires_at: "2020-01-01T00:00:00Z" }), "expired")
  assert.equal(stateOf({ revoked_at: "2020-01-01T00:00:00Z", expires_at: null }), "revoked")
})

test("an import that accepts rows again differs from one that is uploaded", () => {
  const job = (state, since) => stateOfImport({ state, phase_started_at: since, created_at: "2026-11-23T10:00:00.000Z" })
  assert.equal(job("staging", "2026-11-23T10:00:00.000Z"), "staging")
  assert.equal(job("staging", null), "staging")
  assert.equal(job("staging", "2026-11-23T10:05:00.000Z"), "reopened")
  assert.equal(job("validated", "2026-11-23T10:05:00.000Z"), "validated")
})

test("a day of a filter includes the whole day", () => {
  assert.equal(new Date(momentOf("2026-11-21", true)) - new Date(momentOf("2026-11-21", false)), 86_400_000)
  assert.equal(momentOf("", false), undefined)
  assert.equal(momentOf("2026-11-21T10:00:00.000Z", false), "2026-11-21T10:00:00.000Z")
})

test("times and numbers are written as people say them", () => {
  const now = Date.parse("2026-11-21T12:00:00Z")
  assert.equal(formatAgo("2026-11-21T09:00:00Z", now), "3 hours ago")
  assert.equal(formatAgo("2026-11-21T11:59:50Z", now), "just now")
  assert.equal(plural(1, "row"), "1 row")
  assert.equal(plural(1234, "row"), "1,234 rows")
  assert.equal(formatDuration(0.2), "1 s")
  assert.equal(formatDuration(150), "3 min")
})

test("a date is the same day in every time zone", () => {
  assert.equal(formatDay("2026-11-20"), new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }).format(new Date(2026, 10, 20)))
})

test("choices are one a line, each once", () => {
  assert.deepEqual(choicesIn(" four \n\neight\nfour"), ["four", "eight"])
})

test("an attribute whose label is deleted is called by its key", () => {
  const fields = { type: "text", label: " ", choices: "", isEnabled: true }
  assert.deepEqual(bodyOf(fields, { key: "boat" }), { type: "text", enabled: true, label: "boat" })
  assert.deepEqual(bodyOf({ ...fields, label: "Boat" }, { key: "boat" }), { type: "text", enabled: true, label: "Boat" })
  assert.deepEqual(bodyOf(fields), { type: "text", enabled: true })
})

test("an attribute has choices only if its type has them", () => {
  const fields = { type: "single_choice", label: "Boat", choices: "four\neight", isEnabled: false }
  assert.deepEqual(bodyOf(fields), { type: "single_choice", enabled: false, label: "Boat", choices: ["four", "eight"] })
  assert.deepEqual(bodyOf({ ...fields, type: "text" }), { type: "text", enabled: false, label: "Boat" })
})

test("the first page names only what needs attention", () => {
  const calm = {
    active_import: null, webhook_endpoints: { active: 1, failing: 0, paused: 0, disabled: 0 }, keys_expiring_in_30_days: { api_keys: 0, tracking_keys: 0, content_keys: 0 },
    connections: { pending: 0, connected: 1, expired: 0, revoked: 0, error: 0 },
  }
  assert.deepEqual(attentionOf(calm), [])
  const busy = { ...calm, webhook_endpoints: { ...calm.webhook_endpoints, failing: 2 }, connections: { ...calm.connections, error: 1 },
    keys_expiring_in_30_days: { api_keys: 0, tracking_keys: 1, content_keys: 1 } }
  assert.deepEqual(attentionOf(busy).map(([text]) => text),
    ["2 webhook endpoints: the last attempt failed", "2 page keys will expire within 30 days", "1 connection without access to the provider"])
  const imported = { ...calm, active_import: { id: "i", file_name: "members.csv", state: "validated", invalid_rows: 3 } }
  assert.deepEqual(attentionOf(imported).map(([text]) => text).slice(1), ["3 rows of the import have errors"])
})

test("a stored value that is no longer a choice is offered as one, and named so", () => {
  assert.deepEqual(choicesOf(["head"], ["sprint", "head"]), [["head", "head"], ["sprint", "sprint (no longer offered)"]])
})

const counts = count => ({ count, exact: true })
const EMPTY = {
  members: { active: counts(0), locked: counts(0), changed_in_7_days: counts(0) }, team: { owners: 1, admins: 0, viewers: 0, invited_owners: 0, invited_others: 0 },
  enabled_attributes: 0, valid_keys: { api_keys: 0, tracking_keys: 0, content_keys: 0, module_credentials: 0 },
  webhook_endpoints: { active: 0, failing: 0, paused: 0, disabled: 0 }, connections: { connected: 2 }, articles: { published: 0, scheduled: 0, draft: 0 },
  ads_in_7_days: { impressions: 5, clicks: 0 },
}
const namesOf = (summary, role = "owner") => stepsOf(summary, role).map(([name]) => name)

test("the first steps of an organization add members", () => {
  assert.deepEqual(namesOf(EMPTY), ["import", "member", "attributes", "keys"])
  assert.deepEqual(namesOf(EMPTY, "viewer"), [])
})

test("a next step is offered until it is done", () => {
  const filled = { ...EMPTY, members: { ...EMPTY.members, locked: counts(1) }, enabled_attributes: 2, valid_keys: { ...EMPTY.valid_keys, api_keys: 1 } }
  assert.deepEqual(namesOf(filled), ["owner", "webhook", "article", "tracking"])
  assert.deepEqual(namesOf(filled, "admin"), ["webhook", "article", "tracking"])
  const drafted = { ...filled, articles: { published: 0, scheduled: 0, draft: 1 }, team: { ...filled.team, invited_owners: 1 } }
  assert.deepEqual(namesOf(drafted), ["webhook", "publish", "tracking"])
  assert.deepEqual(namesOf({ ...drafted, articles: { published: 0, scheduled: 1, draft: 1 }, webhook_endpoints: { ...EMPTY.webhook_endpoints, paused: 1 },
    valid_keys: { api_keys: 1, tracking_keys: 1, content_keys: 0, module_credentials: 0 } }), [])
})

test("a number leads to the list that has it", () => {
  const links = Object.fromEntries(numbersOf(EMPTY, Date.parse("2026-11-21T12:00:00Z")).map(([name, , path, query]) => [name, [path.join("/"), query]]))
  assert.deepEqual(links["Locked members"], ["members", { status: "locked" }])
  assert.deepEqual(links["Changed in 7 days"], ["members", { since: "2026-11-14T12:00:00.000Z" }])
  assert.deepEqual(links["Connections"], ["connections", { state: "connected" }])
})

test("a new member has what was filled in, with values of their types", () => {
  const registry = [{ key: "points", type: "number" }, { key: "vip", type: "boolean" }, { key: "boat", type: "text" }]
  const fields = { email: " ann@example.org ", first_name: "Ann", last_name: " ", country: "" }
  assert.deepEqual(memberOf(fields, { points: "2.5", vip: "true" }, registry),
    { email: "ann@example.org", first_name: "Ann", attributes: { points: 2.5, vip: true } })
  assert.deepEqual(memberOf({ email: "" }, {}, registry), { email: "" })
})

test("a screen that only changes something is closed to viewers", () => {
  const closed = SCREENS.filter(([, { changes }]) => changes).map(([path]) => path)
  assert.deepEqual(closed, ["imports/new", "modules/:id/versions/new", "articles/new", "ads/new", "ads/:id/edit"])
})
