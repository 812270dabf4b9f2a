import assert from "node:assert/strict"
import test from "node:test"
import { guessTargets, uniqueHeader } from "../console/imports/columns.js"
import { guessType, payloadOf, valueOf } from "../console/imports/convert.js"
import { choicesIn } from "../console/attributes/edit.js"
import { composed, distinct } from "../console/lib/composed.js"
import { trimmed } from "../console/lib/text.js"
import { memberOf } from "../console/members/add.js"
import { parametersOf } from "../console/members/conditions.js"

const ENDS = "\u200B \u00A0\u0085\uFEFF\n" // of a cell, as web pages and the first cells of files leave them

test("the API's white space is removed at both ends, and nothing else", () => {
  const kept = Array.from({ length: 0xFFFF }, (_, code) => String.fromCharCode(code)).filter(one => trimmed(`${one}a${one}`) !== "a")
  assert.deepEqual(kept.filter(one => /\p{White_Space}|\u200B|\uFEFF/u.test(one)), [])
  assert.equal(kept.length, 0xFFFF - 25 - 2)
  assert.deepEqual([trimmed(`${ENDS}a${ENDS}b${ENDS}`), trimmed(ENDS), trimmed("")], [`a${ENDS}b`, "", ""])
})

test("a long run of blanks is trimmed in time", () => {
  const started = performance.now()
  assert.equal(trimmed(`a${" ".repeat(1_000_000)}b`).length, 1_000_002)
  assert.ok(performance.now() - started < 1000)
})

test("cells of an import are trimmed as the API trims texts", () => {
  const columns = [{ target: "email" }, { target: "attribute:size" }, { target: "attribute:likes", type: "multi_choice", choices: ["a", "b"] }, { target: "attribute:note" }]
  assert.deepEqual(payloadOf([`${ENDS}a@b.example${ENDS}`, `M${ENDS}`, `a;${ENDS}b`, ENDS], columns),
    { email: "a@b.example", attributes: { size: "M", likes: ["a", "b"] } })
  assert.deepEqual(payloadOf(["a@b.example", "M", "a", "", ENDS], columns), { email: "a@b.example", attributes: { size: "M", likes: ["a"] } })
  assert.equal(guessType([`5${ENDS}`, ENDS]), "number")
  assert.deepEqual(valueOf(`a;${ENDS}`, { type: "multi_choice" }), ["a"])
  assert.deepEqual(uniqueHeader([`${ENDS}Name${ENDS}`, ENDS]), ["Name", "Column 2"])
  assert.deepEqual(guessTargets([`${ENDS}Email`], []), ["email"])
})

test("a form and a search send no invisible ends", () => {
  assert.deepEqual(memberOf({ email: `a@b.example${ENDS}`, first_name: ENDS }, {}, []), { email: "a@b.example" })
  assert.deepEqual([`${ENDS}ann${ENDS}`, ENDS, undefined].map(q => parametersOf({ q }).q), ["ann", undefined, undefined])
})

test("letters and their marks are composed as the API does it", () => {
  assert.deepEqual(["Zoe\u0308", "Zo\u00EB", "\u304B\u3099", "\uFA19\u8C37", "e\u0301\uF900e\u0301\u{2F800}", "x\u030C", ""].map(composed),
    ["Zo\u00EB", "Zo\u00EB", "\u304C", "\uFA19\u8C37", "\u00E9\uF900\u00E9\u{2F800}", "x\u030C", ""])
})

test("choices and tags in two spellings are one", () => {
  assert.deepEqual(distinct([" Cafe\u0301", "Tee", "", "Caf\u00E9 "]), ["Caf\u00E9", "Tee"])
  assert.deepEqual(choicesIn("Cafe\u0301\nTee\nCaf\u00E9"), ["Caf\u00E9", "Tee"])
})

test("a list of choices from an export of macOS is split at its separators", () => {
  const columns = [{ target: "attribute:drinks", type: "multi_choice", choices: ["Caf\u00E9, schwarz", "Tee"] }]
  assert.deepEqual(payloadOf(["Tee, Cafe\u0301, schwarz"], columns), { attributes: { drinks: ["Tee", "Caf\u00E9, schwarz"] } })
  assert.deepEqual(payloadOf(["Cafe\u0301", "e\u0301"], [{ target: "attribute:note", type: "text" }, { target: "external_id" }]),
    { external_id: "e\u0301", attributes: { note: "Caf\u00E9" } })
})
