import assert from "node:assert/strict"
import test from "node:test"
import { exampleOf, faultsIn, faultsOf, nextVersion } from "../console/modules/manifest.js"
import { eventPrefixOf, installedIn } from "../console/modules/parts.js"

test("the next version has the last number plus one", () => {
  assert.deepEqual(["1.0.0", "1.0.9", "v7", "2026-09", "1.2.3-beta", "first"].map(nextVersion),
    ["1.0.1", "1.0.10", "v8", "2026-10", "1.2.4-beta", "first-2"])
})

test("the types of the example begin with the module's short name", () => {
  const example = JSON.parse(exampleOf({ name: "Club shop", slug: "club-shop" }))
  assert.equal(eventPrefixOf("club-shop"), "club_shop.")
  assert.deepEqual(example.events.emits, ["club_shop.order_paid"])
})

test("the faults of a manifest have their lines, in the order of the text", () => {
  const text = '{\n "events": {\n  "emits": ["x"]\n },\n "other": 1\n}'
  const faults = faultsOf(text, { "manifest.other": "is unknown", "manifest.events.emits[0]": "is wrong", "manifest.name": "is required", version: "no" })
  assert.deepEqual(faults.map(({ line, path, message }) => [line, path, message]),
    [[1, "name", "is required"], [3, "events.emits[0]", "is wrong"], [5, "other", "is unknown"]])
  assert.equal(text.slice(faults[1].start, faults[1].end), '"x"')
})

test("a manifest that is not an object has a fault before it is sent", () => {
  assert.deepEqual(faultsIn("{}"), [])
  assert.deepEqual(faultsIn("[]").map(fault => fault.line), [1])
  assert.deepEqual(faultsIn('{\n"a" 1}').map(({ line, start }) => [line, start]), [[2, 6]])
})

test("a module is installed unless its installation is disabled", () => {
  assert.deepEqual(installedIn([{ id: "1", module_id: "a", status: "disabled" }, { id: "2", module_id: "b", status: "error" }]), { b: { id: "2", module_id: "b", status: "error" } })
})
