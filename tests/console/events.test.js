import assert from "node:assert/strict"
import test from "node:test"
import { dataOf } from "../console/events/table.js"
import { parsed } from "../console/lib/exact.js"

test("the metadata of an event is shown with all digits", () => {
  assert.equal(dataOf(parsed('{"order_id":9007199254740993,"price":12.5}')), '{\n  "order_id": 9007199254740993,\n  "price": 12.5\n}')
  assert.deepEqual(["9007199254740993", '"<b>"', "[]"].map(text => dataOf(parsed(text))), ["9007199254740993", '"<b>"', "[]"])
})

test("an event with the deepest metadata and a long number can be read from the list", () => {
  const metadata = `${"[".repeat(63)}9007199254740993${"]".repeat(63)}`
  const list = parsed(`{"events":[{"metadata":${metadata}}],"next_cursor":null}`)
  assert.match(dataOf(list.events[0].metadata), /9007199254740993/)
})
