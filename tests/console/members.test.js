import assert from "node:assert/strict"
import test from "node:test"
import { attributeKeys, filterNameOf, isAddress, isFiltered, jobFilterOf, pairsOf, parametersOf, summaryOf } from "../console/members/conditions.js"
import { attributesOf, changesOf } from "../console/members/edit.js"
import { memberOf } from "../console/members/add.js"
import { jsonOf, parsed } from "../console/lib/exact.js"
import { noteOf } from "../console/member_jobs/job.js"

const REGISTRY = [{ key: "points", label: "Points", type: "number" }, { key: "vip", label: "VIP", type: "boolean" },
  { key: "shirt_size", label: "Shirt size", type: "single_choice" }]
const IMPORT = "01a1fd07-6e99-7265-b40a-2831efbbc0ee"

test("filters of the address become parameters of the list", () => {
  const query = { country: "de", "attribute.points": "2.5", status: "active" }
  assert.deepEqual(parametersOf(query), { status: "active", country: "de", updated_since: undefined, imported_by: undefined,
    "attribute.points": "2.5", order: "newest" })
  assert.deepEqual(attributeKeys(query), ["points"])
  assert.equal(isFiltered({}), false)
  assert.equal(isFiltered({ since: "2026-11-01" }), true)
})

test("a whole address is searched exactly, other text by its beginning, and the newest members come first without a search", () => {
  const given = query => JSON.parse(JSON.stringify(parametersOf(query)))
  assert.deepEqual(given({ q: "ann@example.org" }), { email: "ann@example.org", order: "newest" })
  assert.deepEqual(given({ q: "ann b", status: "locked" }), { q: "ann b", status: "locked" })
  assert.deepEqual(given({}), { order: "newest" })
})

test("bulk changes are not offered for a whole address", () => {
  assert.deepEqual(["ann@example.org", " ann@example.org ", "ann@example", "ann b", undefined].map(text => isAddress(text)), [true, true, false, false, false])
})

test("a list by import or time keeps the API's order", () => {
  assert.equal(parametersOf({ import: IMPORT }).order, undefined)
  assert.equal(parametersOf({ since: "2026-11-01" }).order, undefined)
  assert.equal(parametersOf({ since: "no day" }).order, "newest")
})

test("the filter of a job has the types of the registry", () => {
  assert.deepEqual(jobFilterOf({ q: " ann ", "attribute.points": "2.5", "attribute.vip": "true", "attribute.shirt_size": "M" }, REGISTRY),
    { q: "ann", attributes: { points: 2.5, vip: true, shirt_size: "M" } })
  assert.deepEqual(jobFilterOf({ "attribute.points": "many" }, REGISTRY), { attributes: { points: "many" } })
})

test("a job without a filter changes all members, and says so", () => {
  const everyone = jobFilterOf({}, REGISTRY)
  assert.equal(summaryOf(everyone, REGISTRY), "All members of the organization")
  assert.equal(summaryOf({ ...everyone, status: "locked" }, REGISTRY).startsWith("Status: Locked"), true)
})

test("a filter is shown with the names of the registry", () => {
  assert.deepEqual(pairsOf({ country: "DE", imported_by: IMPORT, attributes: { vip: false, gone: "x" } }, REGISTRY, { [IMPORT]: "club.csv" }),
    [["Country", "DE"], ["Import", "club.csv"], ["VIP", "No"], ["gone", "x"]])
})

test("a step waits until the runner works on it", () => {
  const job = { phase_started_at: "2026-11-23T15:00:00Z", heartbeat_at: null }
  assert.match(noteOf(job), /waiting/)
  assert.match(noteOf({ ...job, heartbeat_at: "2026-11-23T14:59:00Z" }), /waiting/)
  assert.equal(noteOf({ ...job, heartbeat_at: "2026-11-23T15:00:01Z" }), "")
})

test("a job gets a number with the digits that the list compares", () => {
  const filterOf = text => jsonOf(jobFilterOf({ "attribute.points": text }, REGISTRY).attributes)
  for (const text of ["9007199254740993", "-12345678901234567890", "1.0", "2.50", "1e3"]) assert.equal(filterOf(text), `{"points":${text}}`)
  for (const text of ["007", "0x10", "1e999", "1".repeat(309)]) assert.equal(filterOf(text), `{"points":"${text}"}`)
  const job = parsed('{"filter":{"attributes":{"points":9007199254740993}}}')
  assert.deepEqual(pairsOf(job.filter, REGISTRY), [["Points", "9007199254740993"]])
})

test("the forms of a member keep the digits of a long number", () => {
  const member = parsed('{"attributes":{"points":9007199254740993}}')
  const change = points => jsonOf(changesOf({ ...member }, {}, { points }, [REGISTRY[0]]).attributes ?? null)
  assert.equal(change(member.attributes.points), "null")
  assert.equal(change("9007199254740993"), "null")
  assert.equal(change("9007199254740994"), '{"points":9007199254740994}')
  assert.equal(jsonOf(memberOf({ email: "ann@example.org" }, { points: " +9007199254740993 " }, REGISTRY)),
    '{"email":"ann@example.org","attributes":{"points":9007199254740993}}')
})

test("the key of an attribute may be the name of a method of objects", () => {
  const registry = [{ key: "constructor", label: "Builder", type: "text" }]
  assert.deepEqual(memberOf({ email: "ann@example.org" }, {}, registry), { email: "ann@example.org" })
  assert.deepEqual(changesOf({ attributes: {} }, {}, { constructor: "Empacher" }, registry).attributes, { constructor: "Empacher" })
  assert.equal(changesOf({ attributes: {} }, {}, { constructor: "" }, registry).attributes, undefined)
  assert.deepEqual(attributesOf({ attributes: {} }, registry), { constructor: "" })
  assert.deepEqual(pairsOf({ attributes: { constructor: "x" } }, []), [["constructor", "x"]])
})

test("faults of a filter are named as the filters are", () => {
  const paths = ["attribute.points", "filter.attributes.points", "filter.attributes.none", "filter.updated_since", "status", "cursor"]
  assert.deepEqual(paths.map(path => filterNameOf(path, REGISTRY)), ["Points", "Points", "none", "Changed since", "Status", undefined])
})
