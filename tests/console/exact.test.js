import assert from "node:assert/strict"
import test from "node:test"
import { ExactNumber, callExactly, jsonOf, numberAsTyped, numberOf, parsed } from "../console/lib/exact.js"

test("only a number that JavaScript would round is kept as text", () => {
  assert.deepEqual(["0", "-5", "2.50", "9007199254740991", "1e3"].map(numberOf), [0, -5, 2.5, 9007199254740991, 1000])
  assert.deepEqual(["9007199254740993", "12345678901234567890.5", "1e300"].map(text => [numberOf(text) instanceof ExactNumber, String(numberOf(text))]),
    [[true, "9007199254740993"], [true, "12345678901234567890.5"], [true, "1e300"]])
  assert.deepEqual(["", "01", "+1", ".5", "1.", "0x10", "1e999", "1".repeat(309), " 1"].map(numberOf), Array(9).fill(null))
})

test("a number as typed keeps its form", () => {
  assert.deepEqual(["1.0", "2.50", "1e3"].map(text => jsonOf(numberAsTyped(text))), ["1.0", "2.50", "1e3"])
  assert.equal(numberAsTyped("2.5"), 2.5)
})

test("JSON is read and written with all digits", () => {
  for (const json of ['{"a":9007199254740993,"b":["x\\n\\u0007",true,null,-12345678901234567890],"c":{"d":1.5,"é":""}}', '{"id":"1234567890123456","n":1}']) {
    assert.equal(jsonOf(parsed(json)), JSON.stringify(JSON.parse(json)).replace("9007199254740992", "9007199254740993").replace("-12345678901234567000", "-12345678901234567890"))
  }
  assert.deepEqual(parsed('{"points":5}'), { points: 5 })
  assert.equal(jsonOf({ a: undefined, b: [undefined, "c"] }), JSON.stringify({ a: undefined, b: [undefined, "c"] }))
})

test("a call sends and reads all digits", async () => {
  let sent
  globalThis.fetch = async (path, { body, headers }) => {
    sent = [body, headers["Content-Type"]]
    return new Response('{"points":9007199254740995}', { headers: { "Content-Type": "application/json", ETag: '"1"' } })
  }
  const { data, headers } = await callExactly("PATCH", "/v1/users/1", { body: { points: numberOf("9007199254740993") } })
  assert.deepEqual(sent, ['{"points":9007199254740993}', "application/json"])
  assert.deepEqual([String(data.points), headers.get("ETag")], ["9007199254740995", '"1"'])
})
