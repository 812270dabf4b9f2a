import assert from "node:assert/strict"
import test from "node:test"
import { correctionOf } from "../console/imports/correct.js"
import { jsonOf, parsed } from "../console/lib/exact.js"

const COLUMNS = [{ target: "email", type: "text" }, { target: "attribute:boats", type: "multi_choice" }, { target: "attribute:points", type: "number", numbers: "." }]
const PAYLOAD = { email: "ann", attributes: { boats: ["Four, coxed", "Eight"], points: "1.234" } }

test("a correction sends the other values as they are", () => {
  assert.deepEqual(correctionOf(PAYLOAD, ["ann@example.org", "Four, coxed, Eight", "1.234"], COLUMNS), { ...PAYLOAD, email: "ann@example.org" })
})

test("a changed value is converted, and an empty one is left out", () => {
  assert.deepEqual(correctionOf(PAYLOAD, ["ann", "Eight", "1234"], COLUMNS), { email: "ann", attributes: { boats: ["Eight"], points: 1234 } })
  assert.deepEqual(correctionOf(PAYLOAD, ["ann", "", ""], COLUMNS), { email: "ann" })
})

test("a correction keeps the digits of long numbers, typed or not", () => {
  const columns = [...COLUMNS, { target: "attribute:card", type: "number", numbers: "." }]
  const payload = parsed('{"email":"ann","attributes":{"points":9007199254740993,"card":12345678901234567890}}')
  assert.equal(jsonOf(correctionOf(payload, ["ann@example.org", "", "9007199254740995", "12345678901234567890"], columns)),
    '{"email":"ann@example.org","attributes":{"points":9007199254740995,"card":12345678901234567890}}')
})

test("a choice with a comma can be typed", () => {
  const columns = COLUMNS.map(one => (one.type === "multi_choice" ? { ...one, choices: ["Four, coxed", "Eight", "Pair"] } : one))
  assert.deepEqual(correctionOf(PAYLOAD, ["ann", "Pair, Four, coxed", ""], columns).attributes, { boats: ["Pair", "Four, coxed"] })
})

test("the key of an attribute may be the name of a method of objects", () => {
  const columns = [...COLUMNS, { target: "attribute:constructor", type: "text" }]
  const correct = (payload, text) => correctionOf(payload, ["ann@example.org", "", "", text], columns)
  assert.deepEqual(correct(PAYLOAD, ""), { email: "ann@example.org" })
  assert.deepEqual(correct(PAYLOAD, String(Object)), { email: "ann@example.org", attributes: { constructor: String(Object) } })
  const payload = { ...PAYLOAD, attributes: { ...PAYLOAD.attributes, constructor: 12 } }
  assert.deepEqual(correct(payload, "12"), { email: "ann@example.org", attributes: { constructor: 12 } })
})
