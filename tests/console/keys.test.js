import assert from "node:assert/strict"
import test from "node:test"
import { dayOf, endOfDay, keyChangesOf } from "../console/keys/dialogs.js"

test("the end of a key is the end of a day in the browser's time zone", () => {
  assert.equal(endOfDay("2026-11-23"), new Date(2026, 10, 23, 23, 59, 59).toISOString())
  assert.equal(dayOf(endOfDay("2026-11-23")), "2026-11-23")
  assert.equal(endOfDay(""), null)
})

test("a day that does not exist is left to the API, which names the fault", () => {
  assert.equal(endOfDay("20266-01-01"), "20266-01-01T23:59:59")
})

test("only the changed fields of a key are sent, so that those of another admin stay", () => {
  const key = { name: "sync", expires_at: endOfDay("2026-11-23") }
  assert.deepEqual(keyChangesOf(key, "sync", "2026-11-23"), {})
  assert.deepEqual(keyChangesOf(key, "night", "2026-11-23"), { name: "night" })
  assert.deepEqual(keyChangesOf(key, "sync", ""), { expires_at: null })
})
