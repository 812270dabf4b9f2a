import assert from "node:assert/strict"
import test from "node:test"
import { CsvFault, CsvReader, guessSeparator, readAll } from "../console/imports/csv.js"

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

test("the separator is guessed as muster-import does", () => {
  assert.equal(guessSeparator('a 5" tube;b,c;d\n'), ";")
  assert.equal(guessSeparator("\r\n\r\na;b\n"), ";")
  assert.equal(guessSeparator("email\nann@example.org;a;b"), ",")
})

test("a character of any kind can be the separator", () => {
  for (const separator of ["^", "]", "[", "\\", "-", "|", "a", "s", "e", "p", "=", "é", "😀"]) {
    const text = `sep=${separator}\n1${separator}"2${separator}"${separator}^]\n`
    assert.deepEqual(readAll(text, guessSeparator(text)), [["1", `2${separator}`, ...`^]`.split(separator)]])
  }
})

test("a first line such as sep=; names the separator and is skipped", () => {
  for (const [line, separator] of [["sep=;", ";"], ['"sep=;"', ";"], ["SEP=\t", "\t"], ["sep=|", "|"], ["sep=,", ","]]) {
    const text = `${line}\r\nemail${separator}name\r\n`
    assert.equal(guessSeparator(text), separator)
    assert.deepEqual(readAll(text, separator), [["email", "name"]])
  }
  assert.deepEqual(readAll("a;b\nsep=;\n", ";"), [["a", "b"], ["sep=", ""]])
  assert.deepEqual(readAll("sep=;c\n", ";"), [["sep=", "c"]])
})

const FAULTS = [
  ['a,b\r\n\r\np4@x.example,"big fan\r\nnext,row\r\n', /^Line 3: .* no closing one/],
  ['a\n"b\nc"\n"d" e\n', /^Line 4: text follows a closing quotation mark/],
  ['""a\n', /^Line 1: text follows/],
  [`a\n"${"x".repeat(1024 * 1024 + 1)}`, /^Line 2: a cell in quotation marks .* 1,048,576 characters/],
  ["x".repeat(1024 * 1024 + 1), /^Line 1: a cell has more than 1,048,576 characters/],
  [",".repeat(16_384), /^Line 1: a row has more than 16,384 cells/],
]

test("a fault names its line, in whatever pieces the file comes", () => {
  for (const [text, message] of FAULTS) {
    assert.throws(() => readAll(text, ","), error => error instanceof CsvFault && message.test(error.message))
    const reader = new CsvReader(",", () => {})
    assert.throws(() => {
      for (let at = 0; at < text.length; at += 7) reader.push(text.slice(at, at + 7))
      reader.end()
    }, { message })
  }
})

test("the largest cells and records are read, and quotes within plain text", () => {
  assert.equal(readAll("x".repeat(1024 * 1024), ",")[0][0].length, 1024 * 1024)
  assert.equal(readAll(",".repeat(16_383), ",")[0].length, 16_384)
  assert.deepEqual(readAll('5" tube,"a"\n""\n', ","), [['5" tube', "a"], [""]])
})

test("the beginning of a file may end within a cell", () => {
  assert.deepEqual(readAll('a,b\n"c', ",", true), [["a", "b"]])
})
