import assert from "node:assert/strict"
import test from "node:test"
import { guessDates, guessType, numberIn, payloadOf, valueOf } from "../console/imports/convert.js"

test("the format of dates is guessed from all cells", () => {
  assert.deepEqual(guessDates(["28.02.1990", "01.02.1991"]), { format: "dmy", isSure: true })
  assert.deepEqual(guessDates(["02/28/1990"]), { format: "mdy", isSure: true })
  assert.deepEqual(guessDates(["01/02/1990"]).isSure, false)
  assert.deepEqual(guessDates([]), { format: "iso", isSure: true })
})

test("dates, numbers, booleans and lists are converted, and other text is kept for the server to report", () => {
  assert.equal(valueOf("28.2.1990", "date", "dmy"), "1990-02-28")
  assert.equal(valueOf("31.02.1990", "date", "dmy"), "31.02.1990")
  assert.equal(valueOf("Ja", "boolean", "iso"), true)
  assert.equal(valueOf("perhaps", "boolean", "iso"), "perhaps")
  assert.deepEqual(valueOf("news; offers; news", "multi_choice", "iso"), ["news", "offers"])
})

test("numbers may have separators of thousands", () => {
  assert.deepEqual(["5", "-1,5", "1.234,5", "1,234.5", "1 000", "five", ""].map(numberIn), [5, -1.5, 1234.5, 1234.5, 1000, null, null])
})

test("a payload has core fields, attributes, and no empty values", () => {
  const columns = [{ target: "email" }, { target: "" }, { target: "dob", type: "date", dates: "dmy" }, { target: "attribute:vip", type: "boolean" }]
  assert.deepEqual(payloadOf([" a@b.example ", "x", "", "yes"], columns), { email: "a@b.example", attributes: { vip: true } })
  assert.deepEqual(payloadOf(["'=1+1"], columns), { email: "=1+1" })
})

test("the type of a column is guessed, and digits without a quantity are text", () => {
  assert.equal(guessType(["28.02.1990", "", "01.12.1999"]), "date")
  assert.equal(guessType(["1,5", "20"]), "number")
  assert.equal(guessType(["ja", "Nein"]), "boolean")
  assert.equal(guessType(["01099", "10115"]), "text")
  assert.equal(guessType(["+49 30 1"]), "text")
  assert.equal(guessType(["", " "]), "text")
})
