import assert from "node:assert/strict"
import test from "node:test"
import { differs, mayLeave } from "../console/lib/unsaved.js"

test("values of forms differ by what they contain", () => {
  assert.equal(differs({ name: "", tags: ["a"] }, { name: "", tags: ["a"] }), false)
  assert.equal(differs({ name: "" }, { name: " " }), true)
  assert.equal(differs(["a", "b"], ["b", "a"]), true)
})

test("leaving a page without anything unsaved does not ask", async () => {
  assert.equal(await mayLeave(), true)
  assert.equal(await mayLeave({}), true)
})
