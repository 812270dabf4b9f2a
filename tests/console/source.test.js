import assert from "node:assert/strict"
import test from "node:test"
import { encodingOf, inspect, readRecords, readWhole } from "../console/imports/source.js"

const EARLY = "email,name\n".concat("ann@example.org,Ann\n".repeat(20_000)) // longer than the sample
const UMLAUT = Uint8Array.of(0xfc)

const namesOf = async (file, plan) => {
  const names = []
  await readRecords(file, plan, cells => void names.push(cells[1]))
  return names
}

test("the encoding is guessed from the sample", () => {
  assert.equal(encodingOf(new TextEncoder().encode("Müller")), "utf-8")
  assert.equal(encodingOf(Uint8Array.of(0x4d, 0xc3)), "utf-8") // a letter that is cut
  assert.equal(encodingOf(UMLAUT), "windows-1252")
})

test("a byte of windows-1252 after the sample changes the encoding of the whole file", async () => {
  const file = new Blob([EARLY, "bob@example.org,M", UMLAUT, "ller\n"])
  const source = await inspect(file)
  assert.equal(source.encoding, "utf-8")
  const whole = await readWhole(file, source)
  assert.deepEqual(whole, { total: 20_001, encoding: "windows-1252" })
  assert.equal((await namesOf(file, { ...source, ...whole })).at(-1), "Müller")
})

test("a file that is UTF-8 in its sample and not after it is refused, because every encoding damages a part", async () => {
  const file = new Blob(["email,name\neve@example.org,Zoë\n", EARLY, "bob@example.org,M", UMLAUT, "ller\n"])
  await assert.rejects(readWhole(file, await inspect(file)), /Save it as UTF-8/)
})

test("a file that is UTF-8 everywhere keeps its encoding", async () => {
  const file = new Blob([EARLY, "bob@example.org,Müller\n"])
  assert.deepEqual(await readWhole(file, await inspect(file)), { total: 20_001, encoding: "utf-8" })
})

const LATE_QUOTE = [EARLY, 'p4@x.example,"big fan\n', "ann@example.org,Ann\n"]

test("a quotation mark without a closing one refuses the file before its rows are sent", async () => {
  await assert.rejects(inspect(new Blob(['email,name\nbob@example.org,"Bob\n', "ann@example.org,Ann\n"])), /^Error: Line 2:/)
  const file = new Blob(LATE_QUOTE)
  const source = await inspect(file)
  assert.deepEqual(source.header, ["email", "name"])
  await assert.rejects(readWhole(file, source), /^Error: Line 20002:/)
  await assert.rejects(namesOf(file, source), /^Error: Line 20002:/)
})

test("a header that a quotation mark makes endless is reported", async () => {
  await assert.rejects(inspect(new Blob(['email,"name\n', EARLY])), /^Error: Line 1:/)
})

test("a file whose first line names the separator has the header on its second line", async () => {
  const file = new Blob(["\uFEFFsep=;\r\nemail;name, first\r\nann@example.org;Ann\r\n"])
  const source = await inspect(file)
  assert.deepEqual([source.separator, source.header], [";", ["email", "name, first"]])
  assert.deepEqual(await readWhole(file, source), { total: 1, encoding: "utf-8" })
  assert.deepEqual(await namesOf(file, source), ["Ann"])
})
