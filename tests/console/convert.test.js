import assert from "node:assert/strict"
import test from "node:test"
import { guessDates, guessFormats, guessNumbers, guessType, numberIn, payloadOf, valueOf } from "../console/imports/convert.js"

test("the format of dates is guessed from all cells", () => {
  assert.deepEqual(guessDates(["28.02.1990", "01.02.1991"]), { format: "dmy", isSure: true })
  assert.deepEqual(guessDates(["02/28/1990"]), { format: "mdy", isSure: true })
  assert.deepEqual(guessDates(["01/02/1990"]).isSure, false)
  assert.deepEqual(guessDates([]), { format: "iso", isSure: true })
})

test("a date of an unknown form is converted if it can mean one day only", () => {
  const dateOf = text => valueOf(text, { type: "date", dates: "any" })
  assert.deepEqual(["1990-2-28", "28.02.1990", "02/28/1990", "05.05.1990"].map(dateOf), ["1990-02-28", "1990-02-28", "1990-02-28", "1990-05-05"])
  assert.deepEqual(["01.02.1990", "31.02.1990", "1990", ""].map(dateOf), ["01.02.1990", "31.02.1990", "1990", ""])
})

test("dates, numbers, booleans and lists are converted, and other text is kept for the server to report", () => {
  assert.equal(valueOf("28.2.1990", { type: "date", dates: "dmy" }), "1990-02-28")
  assert.equal(valueOf("31.02.1990", { type: "date", dates: "dmy" }), "31.02.1990")
  assert.equal(valueOf("Ja", { type: "boolean", dates: "iso" }), true)
  assert.equal(valueOf("perhaps", { type: "boolean", dates: "iso" }), "perhaps")
  assert.deepEqual(valueOf("news; offers; news", { type: "multi_choice", dates: "iso" }), ["news", "offers"])
})

test("numbers may have separators of thousands", () => {
  assert.deepEqual(["5", "-1,5", "1.234,5", "1,234.5", "1 000", "five", ""].map(text => numberIn(text)), [5, -1.5, 1234.5, 1234.5, 1000, null, null])
})

test("a number that may mean two things needs the decimal mark of the file", () => {
  assert.deepEqual(["1,234", "1.234", "-12.345"].map(text => numberIn(text)), [null, null, null])
  assert.deepEqual(["1,234", "1.234", "1 234"].map(text => numberIn(text, ".")), [1234, 1.234, 1234])
  assert.deepEqual(["1,234", "1.234", "1 234"].map(text => numberIn(text, ",")), [1.234, 1234, 1234])
  assert.deepEqual(["0.125", "1234.567", "1.25"].map(text => numberIn(text)), [0.125, 1234.567, 1.25])
  assert.equal(valueOf("1.234", { type: "number", numbers: "" }), "1.234")
})

test("other numbers of the file show its decimal mark", () => {
  assert.deepEqual(guessNumbers(["1.234", "12,5"]), { format: ",", isSure: true })
  assert.deepEqual(guessNumbers(["1,234", "1,234.5"]), { format: ".", isSure: true })
  assert.deepEqual(guessNumbers(["1.234", "7"]), { format: "", isSure: false })
  assert.deepEqual(guessNumbers(["1.234", "12,5", "12.5"]), { format: "", isSure: false })
  assert.deepEqual(guessNumbers(["5", "1 000", "about 1.5"]), { format: "", isSure: true })
})

test("only the cells of dates and numbers decide on their forms", () => {
  const columns = [{ type: "text" }, { type: "number" }, { type: "date" }]
  assert.deepEqual(guessFormats([["12,5", "1.234", "28.02.1990"]], columns),
    { dates: { format: "dmy", isSure: true }, numbers: { format: "", isSure: false } })
})

test("a payload has core fields, attributes, and no empty values", () => {
  const columns = [{ target: "email" }, { target: "" }, { target: "dob", type: "date", dates: "dmy" }, { target: "attribute:vip", type: "boolean" }]
  assert.deepEqual(payloadOf([" a@b.example ", "x", "", "yes"], columns), { email: "a@b.example", attributes: { vip: true } })
  assert.deepEqual(payloadOf(["'=1+1"], columns), { email: "=1+1" })
})

test("the type of a column is guessed, and digits without a quantity are text", () => {
  assert.equal(guessType(["28.02.1990", "", "01.12.1999"]), "date")
  assert.equal(guessType(["1,5", "20"]), "number")
  assert.equal(guessType(["1,234", "2.500"]), "number")
  assert.equal(guessType(["ja", "Nein"]), "boolean")
  assert.equal(guessType(["01099", "10115"]), "text")
  assert.equal(guessType(["+49 30 1"]), "text")
  assert.equal(guessType(["", " "]), "text")
})
