import assert from "node:assert/strict"
import test from "node:test"
import { jsonOf } from "../console/lib/exact.js"
import { SURPLUS, guessDates, guessFormats, guessNumbers, guessType, numberIn, payloadOf, valueOf } from "../console/imports/convert.js"

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

test("a long integer keeps its digits", () => {
  const jsonIn = (text, numbers) => jsonOf(valueOf(text, { type: "number", numbers }))
  for (const text of ["9007199254740993", "-9007199254740993", "12345678901234567890", "1".repeat(308)]) assert.equal(jsonIn(text), text)
  assert.equal(jsonIn("9.007.199.254.740.993", ","), "9007199254740993")
  assert.equal(jsonIn("+0009007199254740993"), "9007199254740993")
  assert.equal(jsonIn("12345678901234567890,50"), "12345678901234567890.50")
  assert.deepEqual(["9007199254740991", "2.50", "007"].map(text => valueOf(text, { type: "number" })), [9007199254740991, 2.5, 7])
})

test("an integer with more digits than the API takes remains text, which the server rejects in its row only", () => {
  assert.equal(valueOf("1".repeat(309), { type: "number" }), "1".repeat(309))
})

test("a mark that occurs several times separates thousands", () => {
  for (const numbers of ["", ".", ","]) {
    assert.deepEqual(["1,234,567", "1.234.567", "-1.234.567,5", "+1,234,567.5", "1,234,567.891"].map(text => numberIn(text, numbers)),
      [1234567, 1234567, -1234567.5, 1234567.5, 1234567.891])
  }
  assert.deepEqual(["1,2,3", "1.23.456", "1,23.5", "1,234,567,8", "1.234,567.8", "1,,234"].map(text => numberIn(text, ".")), Array(6).fill(null))
  assert.deepEqual(guessNumbers(["1.234.567", "1,234"]), { format: ",", isSure: true })
  assert.equal(guessType(["1,234,567"]), "number")
})

const choicesIn = (text, choices) => valueOf(text, { type: "multi_choice", choices })

test("the choices decide how a cell with several of them is divided", () => {
  const boats = ["Four, coxed", "Four", "Eight", "a|b", "x;y", "1/2"]
  assert.deepEqual(choicesIn("Four, coxed", boats), ["Four, coxed"])
  assert.deepEqual(choicesIn("Eight, Four, coxed", boats), ["Eight", "Four, coxed"])
  assert.deepEqual(choicesIn("Four, Eight; Four", boats), ["Four", "Eight"])
  assert.deepEqual(choicesIn("x;y;a|b|Eight", boats), ["x;y", "a|b", "Eight"])
  assert.deepEqual(choicesIn("1/2/Four ::: Eight\nFour, coxed;", boats), ["1/2", "Four", "Eight", "Four, coxed"])
})

test("a cell with other texts than choices is divided at semicolons, else bars, else commas", () => {
  assert.deepEqual(choicesIn("Four, coxed; Kayak", ["Four, coxed"]), ["Four, coxed", "Kayak"])
  assert.deepEqual(choicesIn("a, b | c", []), ["a, b", "c"])
  assert.deepEqual(choicesIn("a/b, c, a/b"), ["a/b", "c"])
})

test("many separators in a cell take little time", () => {
  const begin = performance.now()
  for (const [cell, choices] of [["a,".repeat(20_000) + "a", ["a"]], ["a,".repeat(200) + "a", ["a", "a,a"]],
    [`a${"\n".repeat(199)}b`, ["a", "b"]], [`a${"\n".repeat(4_000)}b`, ["a", "b"]]]) {
    assert.ok(choicesIn(cell, choices).length > 0)
  }
  assert.ok(performance.now() - begin < 1000)
  assert.deepEqual(choicesIn(`a${"\n".repeat(199)}b`, ["a", "b"]), ["a", "b"])
})

test("a row with more cells than the header has a field that the server rejects", () => {
  const columns = [{ target: "email" }, { target: "last_name" }, { target: "country" }]
  const given = payloadOf(["a@x.example", "Smith", " Jr.", "DE"], columns)
  assert.deepEqual(given, { [SURPLUS]: true, email: "a@x.example", last_name: "Smith", country: "Jr." })
  assert.equal(Object.keys(given)[0], SURPLUS) // the row counts under its first fault
  assert.deepEqual(payloadOf(["a@x.example", "Smith", "DE", "", " "], columns), { email: "a@x.example", last_name: "Smith", country: "DE" })
})
