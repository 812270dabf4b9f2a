import assert from "node:assert/strict"
import test from "node:test"
import { own } from "../console/lib/own.js"

test("only the keys of an object itself are found in it", () => {
  assert.equal(own({ gone: "a" }, "gone"), "a")
  assert.deepEqual(["constructor", "toString", "__proto__", "b", "", null, undefined].map(key => own({ gone: "a" }, key)), Array(7).fill(undefined))
  assert.equal(own({ constructor: "b" }, "constructor"), "b")
})
