import assert from "node:assert/strict"
import test from "node:test"
import { changesOf, fieldsOf, newKeyOf } from "../console/pages/keys.js"
import { faultsOfRows, originIn, originsIn } from "../console/pages/origins.js"
import { mayHaveSent } from "../console/pages/works.js"
import { codeOfSlot, policyOf, trackingCode } from "../console/pages/snippets.js"

const KEY = { name: "shop", allowed_origins: ["https://shop.example"], expires_at: null, rate_limit_per_second: 20, burst: null }

test("the address of a page becomes its origin", () => {
  assert.equal(originIn(" https://shop.example/prices?a=b "), "https://shop.example")
  assert.equal(originIn("https://shop.example/"), "https://shop.example")
  assert.equal(originIn("shop.example:8443"), "https://shop.example:8443")
  assert.equal(originIn("*.shop.example"), "https://*.shop.example")
  assert.equal(originIn("http://localhost:8000"), "http://localhost:8000")
  assert.equal(originIn("javascript:alert(1)"), "javascript:alert(1)")
  assert.equal(originIn("shop"), "shop")
})

test("empty rows are not sent, and each fault is at its row", () => {
  const rows = ["https://a.example", " ", "ftp://b.example"]
  assert.deepEqual(originsIn(rows), ["https://a.example", "ftp://b.example"])
  assert.deepEqual(faultsOfRows(rows, rows, { "allowed_origins[1]": "is not an allowed URL" }), [undefined, undefined, "is not an allowed URL"])
})

test("a fault stays at its origin when other rows change, and goes with it", () => {
  const twice = { "allowed_origins[1]": "is given twice" }
  const sent = ["a.example", "a.example", "b.example"]
  assert.deepEqual(faultsOfRows(["new", "https://a.example", ...sent.slice(1)], sent, twice), [undefined, undefined, "is given twice", undefined])
  assert.deepEqual(faultsOfRows(sent.slice(1), sent, twice), [undefined, undefined])
  assert.deepEqual(faultsOfRows(["a.example", "c.example", "b.example"], sent, twice), [undefined, undefined, undefined])
})

test("only what differs is sent, and null clears a rate", () => {
  const fields = fieldsOf(KEY)
  assert.deepEqual(changesOf("tracking", KEY, fields), {})
  assert.deepEqual(changesOf("tracking", KEY, { ...fields, perSecond: "", burst: "5", origins: ["https://shop.example", "b.example"] }),
    { allowed_origins: ["https://shop.example", "https://b.example"], rate_limit_per_second: null, burst: 5 })
})

test("a content key has no rates", () => {
  assert.deepEqual(newKeyOf("content", { ...fieldsOf(), name: " blog ", origins: ["https://blog.example"] }),
    { name: "blog", allowed_origins: ["https://blog.example"], expires_at: null })
})

test("an event can have come with a key that was used in the same minute or later", () => {
  const event = { received_at: "2026-11-21T12:00:30.000Z" }
  assert.equal(mayHaveSent({ last_used_at: null }, event), false)
  assert.equal(mayHaveSent({ last_used_at: "2026-11-21T11:59:29.000Z" }, event), true)
  assert.equal(mayHaveSent({ last_used_at: "2026-11-21T11:50:00.000Z" }, event), false)
})

test("the code has the key, and the hash of the script on demand", () => {
  const script = { url: "https://m.example/js/muster.js", integrity: "sha384-abc" }
  assert.match(trackingCode({ script, key: "ek_live_1", hasIntegrity: true }), /data-key="ek_live_1"\n {2}integrity="sha384-abc" crossorigin async>/)
  assert.match(trackingCode({ script, key: "ek_live_1", hasIntegrity: false }), /data-key="ek_live_1" async>/)
  assert.match(codeOfSlot({ base: "https://m.example", key: "k", slug: "top" }), /serve\?key=k&slot=top/)
  assert.equal(policyOf("https://m.example/"), "script-src https://m.example; connect-src https://m.example")
})
