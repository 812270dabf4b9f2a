import assert from "node:assert/strict"
import test from "node:test"
import { without } from "../console/lib/dialog.js"

test("an action that ends late closes its own dialog only", () => {
  const lock = { action: "lock" }
  assert.equal(without(lock, lock), null)
  const edit = { action: "edit" }
  assert.equal(without(edit, lock), edit)
  const again = { action: "lock" }
  assert.equal(without(again, lock), again)
  assert.equal(without(null, lock), null)
})
