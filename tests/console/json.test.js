import assert from "node:assert/strict"
import test from "node:test"
import { JsonFault, isNumber, lineOf, memberOf, parse, placeOf, printed } from "../console/lib/json.js"

const MANIFEST = `{
  "name": "Club shop",
  "events": {
    "emits": ["a.b", "c.d"]
  },
  "config_schema": { "Key.1": {"type": "text"} }
}`

const textAt = path => {
  const { start, end } = placeOf(parse(MANIFEST), path)
  return MANIFEST.slice(start, end)
}

const faultOf = text => {
  try {
    parse(text)
  } catch (error) {
    assert.ok(error instanceof JsonFault)
    return [error.message, error.position]
  }
  return null
}

test("a path leads to the value that it names, with the name of a member", () => {
  assert.equal(textAt(".events.emits[1]"), '"c.d"')
  assert.equal(textAt(".config_schema.Key.1.type"), '"type": "text"')
  assert.equal(textAt(".name"), '"name": "Club shop"')
  assert.equal(lineOf(MANIFEST, placeOf(parse(MANIFEST), ".events.emits[1]").start), 4)
})

test("the path of a value that is missing leads to the value around it", () => {
  assert.equal(textAt(".config_schema.Key.1.secret"), '"Key.1": {"type": "text"}')
  assert.equal(textAt(".events.emits[7]"), '"emits": ["a.b", "c.d"]')
  assert.equal(textAt(""), MANIFEST)
})

test("numbers stay as they are written", () => {
  const text = '{"enum":[1.0,12345678901234567890,-0e5],"empty":{},"none":[]}'
  assert.equal(printed(parse(text)), '{\n  "enum": [1.0, 12345678901234567890, -0e5],\n  "empty": {},\n  "none": []\n}')
  assert.equal(memberOf(parse(text), "enum").items[1].value, "12345678901234567890")
  assert.equal(isNumber("25.00"), true)
  assert.deepEqual(["", "1,5", "01", "1.", "0x1", "1 "].map(isNumber), [false, false, false, false, false, false])
})

test("short parts are on one line, except the outermost object", () => {
  const text = printed(parse('{"name":"Shop","schema":{"a":{"type":"string","enum":["b","c"]},"d":{}},"types":["' + "x".repeat(90) + '"]}'))
  assert.deepEqual(text.split("\n"), ["{", '  "name": "Shop",', '  "schema": {', '    "a": {"type": "string", "enum": ["b", "c"]},', '    "d": {}', "  },",
    '  "types": [', `    "${"x".repeat(90)}"`, "  ]", "}"])
})

test("text that is not JSON has a fault with its position", () => {
  assert.deepEqual(faultOf('{"a": 1,}'), ['Expected a name in double quotes instead of "}".', 8])
  assert.deepEqual(faultOf('{"a" 1}'), ['Expected a colon instead of "1".', 5])
  assert.deepEqual(faultOf('[1 2]'), ['Expected a comma or ] instead of "2".', 3])
  assert.deepEqual(faultOf('{"a": tru}'), ['Expected a value instead of "t".', 6])
  assert.deepEqual(faultOf('{"a": 1, "a": 2}'), ['"a" is there twice.', 9])
  assert.deepEqual(faultOf(""), ["Expected a value instead of the end.", 0])
  assert.deepEqual(faultOf("{} x"), ['Expected the end instead of "x".', 3])
  assert.match(faultOf("[".repeat(100_000))[0], /At most 64 levels/)
})

test("the reader accepts what JSON.parse accepts", () => {
  for (const text of ['"\\u00e9\\n"', "[[],{}]", " null ", "-1.5E+3", '{"":""}', "true"]) {
    assert.deepEqual(JSON.parse(printed(parse(text))), JSON.parse(text))
  }
})
