import assert from "node:assert/strict"
import test from "node:test"
import { fieldName } from "../console/imports/parts.js"
import { reasonOf } from "../console/imports/rows.js"
import { attributeKeyOf, guessTargets, keyOf, looksLikeMember, mappingOf, targetsOf, uniqueHeader } from "../console/imports/columns.js"

const ATTRIBUTES = [{ key: "shirt_size", label: "Shirt size" }, { key: "phone", label: "Phone" }, { key: "boat", label: "Lieblingsboot" }]

test("a name is compared without case, accents and punctuation", () => {
  assert.equal(keyOf("E-Mail Adresse"), "emailadresse")
  assert.equal(keyOf("T-Shirt-Größe"), "tshirtgroesse")
  assert.equal(keyOf("Prénom"), "prenom")
})

test("columns of common exports find their fields, each field once", () => {
  assert.deepEqual(guessTargets(["Email Address", "First Name", "Last Name", "Phone Number", "Mobile", "Notes"], ATTRIBUTES),
    ["email", "first_name", "last_name", "attribute:phone", "", ""])
  assert.deepEqual(guessTargets(["Vorname", "Nachname", "E-Mail", "Trikotgröße", "lieblingsboot"], ATTRIBUTES),
    ["first_name", "last_name", "email", "attribute:shirt_size", "attribute:boat"])
})

test("an attribute with the name of a field is found by the name that an export gives it", () => {
  const attributes = [{ key: "country", label: "Country" }, { key: "email", label: "Email" }]
  assert.deepEqual(guessTargets(["email", "country", "attribute:country", "attribute:email"], attributes),
    ["email", "country", "attribute:country", "attribute:email"])
  assert.deepEqual(guessTargets(["attribute:phone"], []), [""])
})

test("an attribute that is not enabled is not guessed", () => {
  assert.deepEqual(guessTargets(["Phone"], []), [""])
})

test("a mapping and its targets agree", () => {
  const targets = ["email", "", "attribute:phone"]
  const mapping = mappingOf(["A", "B", "C"], targets)
  assert.deepEqual(mapping.columns[2], { sourceColumn: "C", target: "attribute", attributeKey: "phone" })
  assert.deepEqual(targetsOf(mapping), targets)
})

test("column names become unique and are never empty", () => {
  assert.deepEqual(uniqueHeader(["Name", "", "Name ", "Name"]), ["Name", "Column 2", "Name (2)", "Name (3)"])
})

test("a new attribute gets a key that the registry accepts", () => {
  assert.equal(attributeKeyOf("T-Shirt Größe"), "t_shirt_groesse")
  assert.equal(attributeKeyOf("2. Telefon"), "a_2_telefon")
  assert.equal(attributeKeyOf("会員"), "")
})

test("a reason shows the value that is wrong", () => {
  const fields = [{ path: "country", message: "is not a country" }, { path: "attributes.boat", message: "is not a choice" }]
  assert.equal(reasonOf({ fields, payload: { country: "XX", attributes: { boat: ["a", "b"] } } }), "Country “XX” is not a country; boat “a, b” is not a choice")
  assert.equal(reasonOf({ fields: [{ path: "email", message: "is missing" }], payload: {} }), "Mail address is missing")
  const labels = { boat: "Lieblingsboot" }
  assert.equal(reasonOf({ fields: [{ path: "attributes.boat", message: "is not a choice" }], payload: { attributes: { boat: "x" } } }, labels),
    "Lieblingsboot “x” is not a choice")
  const about = key => reasonOf({ fields: [], payload: {}, error_message: `The attribute "${key}" does not allow this value.` }, labels)
  assert.equal(about("boat"), "The attribute “Lieblingsboot” does not allow this value.")
  assert.equal(about("constructor"), "The attribute “constructor” does not allow this value.")
  assert.ok(!reasonOf({ fields: [], payload: {}, error_message: null }, labels))
  assert.equal(reasonOf({ fields: [], payload: {}, error_message: "Twice." }), "Twice.")
})

test("a faulty field may have the name of a method of objects", () => {
  const faultAt = path => ({ fields: [{ path, message: "is not a field" }], payload: { attributes: {} } })
  assert.equal(reasonOf(faultAt("constructor")), "constructor is not a field")
  assert.equal(reasonOf(faultAt("attributes.constructor")), "constructor is not a field")
  assert.equal(fieldName("attributes.constructor", {}), "constructor")
})

test("a first row with an address is a member", () => {
  assert.equal(looksLikeMember(["Ann", "ann@example.org"]), true)
  assert.equal(looksLikeMember(["Name", "E-Mail"]), false)
})

test("a control character in the name of a column becomes a space", () => {
  assert.deepEqual(uniqueHeader(["E-Mail\r\n(private)", "a\tb", "\n", "a  b", "\u0007"]), ["E-Mail (private)", "a b", "Column 3", "a b (2)", "Column 5"])
  assert.deepEqual(uniqueHeader(["a\u0085\u2028b", "\u200B\u00A0c\uFEFF", "\u200B"]), ["a b", "c", "Column 3"])
  assert.deepEqual(uniqueHeader(["Email", "Email\u0001", `${"x".repeat(199)} b`]), ["Email", "Email (2)", "x".repeat(199)])
  assert.equal(uniqueHeader([`${"x".repeat(199)}😀y`])[0], `${"x".repeat(199)}😀`)
})

test("a row with more cells than the header says so", () => {
  assert.match(reasonOf({ fields: [{ path: "more_cells_than_columns", message: "is not a field of this request" }], payload: {} }), /^The row has more cells than the header/)
})
