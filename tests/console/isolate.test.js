import assert from "node:assert/strict"
import test from "node:test"
import { isolate, isolating } from "../console/lib/isolate.js"
import { audit } from "../console/lib/texts_audit.js"
import { keys } from "../console/lib/texts_keys.js"

const FIRST = "\u2068"
const LAST = "\u2069"
const TURNED = "\u202Elive"

test("a text without direction is as it was", () => {
  for (const text of ["", "Ann", "Zoë (2)", "名前", "❤\uFE0F"]) assert.equal(isolate(text), text)
})

test("a text with a direction ends it", () => {
  assert.equal(isolate(TURNED), FIRST + TURNED + LAST)
  assert.equal(isolate("אב"), `${FIRST}אב${LAST}`)
  assert.equal(isolate("𞤀𞤁"), `${FIRST}𞤀𞤁${LAST}`) // Adlam
  assert.equal(isolate("\u200Fa"), `${FIRST}\u200Fa${LAST}`)
})

test("a text can neither end its isolation nor swallow the end", () => {
  assert.equal(isolate(`a${LAST}b`), `${FIRST}ab${LAST}`)
  assert.equal(isolate("\u2067a"), `${FIRST}\u2067a${LAST}${LAST}`)
  assert.equal(isolate(isolate(TURNED)), FIRST + FIRST + TURNED + LAST + LAST)
})

test("functions of texts isolate names, also in lists, and keep other values", () => {
  const given = isolating({ one: { two: [name => `Delete ${name}?`] }, list: names => names.join(" or "), count: count => count + 1, text: "Text", none: null })
  assert.equal(given.one.two[0](TURNED), `Delete ${FIRST}${TURNED}${LAST}?`)
  assert.equal(given.list(["a", TURNED]), `a or ${FIRST}${TURNED}${LAST}`)
  assert.deepEqual([given.count(1), given.text, given.none], [2, "Text", null])
})

test("the texts of screens isolate names", () => {
  assert.equal(keys.revokeTitle(TURNED), `Revoke ${FIRST}${TURNED}${LAST}?`)
  assert.equal(audit.oneAdmin(undefined), "Only entries by one admin.")
  assert.equal(audit.oneAdmin(TURNED), `Only entries by ${FIRST}${TURNED}${LAST}.`)
})
