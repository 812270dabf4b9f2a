import assert from "node:assert/strict"
import test from "node:test"
import { correctionOf } from "../console/imports/correct.js"

const COLUMNS = [{ target: "email", type: "text" }, { target: "attribute:boats", type: "multi_choice" }, { target: "attribute:points", type: "number", numbers: "." }]
const PAYLOAD = { email: "ann", attributes: { boats: ["Four, coxed", "Eight"], points: "1.234" } }

test("a correction sends the other values as they are", () => {
  assert.deepEqual(correctionOf(PAYLOAD, ["ann@example.org", "Four, coxed, Eight", "1.234"], COLUMNS), { ...PAYLOAD, email: "ann@example.org" })
})

test("a changed value is converted, and an empty one is left out", () => {
  assert.deepEqual(correctionOf(PAYLOAD, ["ann", "Eight", "1234"], COLUMNS), { email: "ann", attributes: { boats: ["Eight"], points: 1234 } })
  assert.deepEqual(correctionOf(PAYLOAD, ["ann", "", ""], COLUMNS), { email: "ann" })
})
