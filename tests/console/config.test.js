import assert from "node:assert/strict"
import test from "node:test"
import { configOf, droppedFrom, fieldsOf, propertiesOf, valuesOf } from "../console/installations/config.js"
import { Settings } from "../console/installations/parts.js"

const VERSION = `{"id":"1","manifest":{"name":"Shop","config_schema":{
  "currency":{"type":"string","required":true,"enum":["EUR","GBP"]},"rate":{"type":"number"},"step":{"type":"number","enum":[1,2.50]},
  "test_mode":{"type":"boolean"},"payment_key":{"type":"string","secret":true},"note":{"type":"string"}}}}`
const INSTALLATION = `{"config":{"currency":"EUR","rate":12345678901234567890,"step":1.0,"payment_key":"***","note":"a\\nb","gone":true}}`

test("the settings of a version are its config_schema", () => {
  const properties = propertiesOf(VERSION)
  assert.deepEqual(properties[0], { name: "currency", type: "string", isRequired: true, isSecret: false, choices: ["EUR", "GBP"] })
  assert.deepEqual(properties[2].choices, ["1", "2.50"])
  assert.deepEqual(properties.map(one => one.isSecret), [false, false, false, false, true, false])
  assert.deepEqual(propertiesOf('{"manifest":{"name":"Shop"}}'), [])
})

test("values that did not change are sent as they were", () => {
  const [properties, stored] = [propertiesOf(VERSION), valuesOf(INSTALLATION)]
  const fields = fieldsOf(properties, stored)
  assert.deepEqual(fields, { currency: "EUR", rate: "12345678901234567890", step: "1", test_mode: "", payment_key: "", note: "a\nb" })
  assert.equal(configOf(properties, { ...fields, currency: "GBP" }, stored),
    '{"currency":"GBP","rate":12345678901234567890,"step":1.0,"payment_key":"***","note":"a\\nb"}')
})

test("a secret is kept, replaced or deleted", () => {
  const [properties, stored] = [propertiesOf(VERSION).filter(one => one.isSecret), valuesOf(INSTALLATION)]
  assert.equal(configOf(properties, { payment_key: "" }, stored), '{"payment_key":"***"}')
  assert.equal(configOf(properties, { payment_key: "sk_2" }, stored), '{"payment_key":"sk_2"}')
  assert.equal(configOf(properties, { payment_key: "" }, stored, new Set(["payment_key"])), "{}")
  assert.equal(configOf(properties, { payment_key: "" }), "{}")
})

test("a secret that would be shown by another version is not sent as it is shown", () => {
  const [property] = propertiesOf('{"manifest":{"config_schema":{"payment_key":{"type":"string"}}}}')
  const stored = valuesOf(INSTALLATION)
  assert.equal(configOf([property], fieldsOf([property], stored), stored), '{"payment_key":"***"}')
})

test("the server rejects what is not a number", () => {
  const properties = propertiesOf(VERSION)
  const empty = fieldsOf(properties, {})
  assert.equal(configOf(properties, { ...empty, rate: " 25.00 ", test_mode: "false" }), '{"rate":25.00,"test_mode":false}')
  assert.equal(configOf(properties, { ...empty, rate: "1,5" }), '{"rate":"1,5"}')
})

test("stored values that a version does not have are named", () => {
  assert.deepEqual(droppedFrom(propertiesOf(VERSION), valuesOf(INSTALLATION)), ["gone"])
})

test("a setting may have the name of a method of objects", () => {
  const properties = propertiesOf('{"manifest":{"config_schema":{"constructor":{"type":"string"}}}}')
  assert.deepEqual(Object.entries(fieldsOf(properties, {})), [["constructor", ""]])
  assert.equal(configOf(properties, { constructor: "" }), "{}")
  assert.equal(configOf(properties, { constructor: "Empacher" }), '{"constructor":"Empacher"}')
})

const settingOf = property => Settings({ properties: [property], form: { fields: {}, removed: new Set() }, change: () => {} }).props.children[0]

test("the form of a setting with the name of a method of objects is empty", () => {
  const property = { name: "constructor", type: "string", isRequired: false, isSecret: true, choices: [] }
  const { value, isStored } = settingOf(property).props
  assert.deepEqual([value, isStored], ["", false])
})

test("a choice of a setting may have the name of a method of objects", () => {
  const setting = settingOf({ name: "boat", type: "string", isRequired: true, isSecret: false, choices: ["constructor"] })
  assert.deepEqual(setting.type(setting.props).props.options.at(-1), ["constructor", "constructor"])
})
