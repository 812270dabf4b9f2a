import assert from "node:assert/strict"
import test from "node:test"
import { format, match, parse } from "../console/lib/router.js"

const ID = "01a1fd07-6e99-7265-b40a-2831efbbc0ee"

test("an address and its route agree", () => {
  assert.deepEqual(parse(`#/o/${ID}/members?q=ann%20b&status=`), { organization: ID, path: ["members"], query: { q: "ann b", status: "" } })
  assert.equal(format(ID, ["members", "a/b"], { q: "é&x", status: "" }), `#/o/${ID}/members/a%2Fb?q=%C3%A9%26x`)
  assert.deepEqual(parse(format(ID, ["a/b"], { q: "é&x" })), { organization: ID, path: ["a/b"], query: { q: "é&x" } })
})

test("an address without a valid organization is outside", () => {
  assert.deepEqual(parse("#/connections?result=denied"), { organization: null, path: ["connections"], query: { result: "denied" } })
  assert.equal(parse("#/o/nothing/members").organization, null)
  assert.deepEqual(parse("#/%"), { organization: null, path: ["%"], query: {} })
  assert.deepEqual(parse(""), { organization: null, path: [], query: {} })
})

test("the first pattern that fits a path wins", () => {
  const patterns = [["imports", 1], ["imports/new", 2], ["imports/:id", 3]]
  assert.deepEqual(match(["imports", "new"], patterns), { target: 2, parameters: {} })
  assert.deepEqual(match(["imports", "x"], patterns), { target: 3, parameters: { id: "x" } })
  assert.equal(match(["imports", "x", "y"], patterns), null)
})

test("a parameter is an id or a word, so that it cannot lead a call to another path", () => {
  const patterns = [["members/:id", 1]]
  for (const part of ["..", ".", "a/b", "../session", "a?b", "a#b", "", "%2e"]) assert.equal(match(["members", part], patterns), null, part)
  assert.deepEqual(match(["members", ID], patterns), { target: 1, parameters: { id: ID } })
})
