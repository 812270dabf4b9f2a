import assert from "node:assert/strict"
import test from "node:test"
import { CsvReader, guessSeparator, readAll } from "../console/imports/csv.js"

test("a quoted cell keeps separators, line breaks and doubled quotes", () => {
  assert.deepEqual(readAll('a,"b,c","d ""e""\r\nf"\r\ng,,\r\n', ","), [["a", "b,c", 'd "e"\r\nf'], ["g", "", ""]])
})

test("records end with CRLF, LF, CR or the end of the file, and empty lines are skipped", () => {
  for (const end of ["\r\n", "\n", "\r"]) {
    assert.deepEqual(readAll(`a;b${end}${end}c;d`, ";"), [["a", "b"], ["c", "d"]])
  }
  assert.deepEqual(readAll("", ","), [])
})

test("the pieces of a file may end anywhere", () => {
  const text = '"a""b",c\r\n"d\n",é\r\n'
  const records = []
  const reader = new CsvReader(",", cells => records.push(cells))
  for (const character of text) reader.push(character)
  reader.end()
  assert.deepEqual(records, readAll(text, ","))
})

test("the separator is the most frequent one of the header, outside quotes", () => {
  assert.equal(guessSeparator('"a,b,c";d;e\n1,2,3,4,5,6'), ";")
  assert.equal(guessSeparator("a\tb\n"), "\t")
  assert.equal(guessSeparator("email\nann@example.org"), ",")
})
