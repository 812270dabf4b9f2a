import assert from "node:assert/strict"
import test from "node:test"
import { eventTypesOf } from "../console/webhooks/deliveries.js"
import { MUSTER_EVENTS, TEST_EVENT, typesIn } from "../console/webhooks/events.js"
import { indented, sentStateOf } from "../console/webhooks/delivery.js"
import { notesOf } from "../console/webhooks/endpoint.js"
import { deliveries } from "../console/lib/texts_webhooks.js"
import { changesOf, formOf, formWith, typesOf } from "../console/webhooks/form.js"
import { stateOf } from "../console/webhooks/parts.js"
import { pageOf } from "../console/webhooks/endpoints.js"
import { firstSince, rangeOf } from "../console/webhooks/recover.js"

const ENDPOINT = { url: "https://a.example/", description: null, subscribed_event_types: ["shop.paid", "member.created", "other.paid"] }

test("types without a check box are in the text area", () => {
  const form = formOf(ENDPOINT, ["shop.paid"])
  assert.deepEqual([[...form.chosen], form.others], [["shop.paid", "member.created"], "other.paid"])
  assert.deepEqual(typesOf({ ...form, others: "other.paid, b.c\nb.c" }), ["b.c", "member.created", "other.paid", "shop.paid"])
  assert.deepEqual(typesIn(" a.b\n\nc.d a.b "), ["a.b", "c.d"])
})

test("a box that is toggled before the module's types are known drops none of them", () => {
  const early = formWith(ENDPOINT, [], {})
  const changes = { ...early, boxed: [], chosen: new Set([...early.chosen, "member.removed"]) }
  const form = formWith(ENDPOINT, ["shop.paid"], changes)
  assert.deepEqual(changesOf(ENDPOINT, form), { subscribed_event_types: ["member.created", "member.removed", "other.paid", "shop.paid"] })
  assert.deepEqual([form.chosen.has("shop.paid"), form.others], [true, "other.paid"])
})

test("a type that is written in the text stays there while its module is the same", () => {
  assert.equal(formWith(null, ["shop.paid"], { others: "shop.paid", boxed: ["shop.paid"] }).others, "shop.paid")
  assert.deepEqual(formWith(null, ["club.won"], { chosen: new Set(["shop.paid"]), others: " a.b\n", boxed: ["shop.paid"] }),
    { url: "", description: "", chosen: new Set(), others: "shop.paid\na.b" })
})

test("only what differs from the endpoint is sent", () => {
  const form = formOf(ENDPOINT, [])
  assert.deepEqual(changesOf(ENDPOINT, form), {})
  assert.deepEqual(changesOf(ENDPOINT, { ...form, description: "Shop" }), { description: "Shop" })
  assert.deepEqual(changesOf({ ...ENDPOINT, description: "Shop" }, form), { description: null })
  assert.deepEqual(changesOf(ENDPOINT, { ...form, others: "" }), { subscribed_event_types: ["member.created"] })
})

test("an active endpoint fails after a failed attempt", () => {
  assert.equal(stateOf({ status: "active", failing_since: null }), "active")
  assert.equal(stateOf({ status: "active", failing_since: "2026-11-21T12:00:00Z" }), "failing")
  assert.equal(stateOf({ status: "disabled", failing_since: "2026-11-21T12:00:00Z" }), "disabled")
})

test("the page says why an endpoint gets no events", () => {
  const enabled = { status: "enabled" }
  const calm = { status: "active", failing_since: null, disabled_reason: null, backlog_dropped_at: null }
  assert.deepEqual(notesOf(calm, enabled), [])
  assert.match(notesOf({ ...calm, status: "disabled", disabled_reason: "gone" }, enabled)[0], /410 Gone/)
  assert.match(notesOf({ ...calm, status: "disabled" }, enabled)[0], /An admin disabled/)
  assert.equal(notesOf({ ...calm, status: "paused", backlog_dropped_at: "2026-11-21T12:00:00Z" }, { status: "disabled" }).length, 3)
})

test("recovering begins at the first failure or the last success, at least a day and at most 30 days ago", () => {
  const now = Date.parse("2026-11-21T12:00:00Z")
  const since = endpoint => firstSince({ failing_since: null, last_succeeded_at: null, ...endpoint }, now)
  assert.equal(since({}), "2026-11-20T12:00:00.000Z")
  assert.equal(since({ last_succeeded_at: "2026-11-18T12:00:00Z" }), "2026-11-18T12:00:00.000Z")
  assert.equal(since({ failing_since: "2026-11-21T11:00:00Z" }), "2026-11-20T12:00:00.000Z")
  assert.equal(since({ last_succeeded_at: "2026-01-01T00:00:00Z" }), "2026-10-22T12:00:00.000Z")
  assert.deepEqual(Object.keys(rangeOf({ since: "2026-11-21T12:00", until: "" })), ["since"])
  assert.equal(rangeOf({ since: "20266-11-21T12:00", until: "" }).since, "20266-11-21T12:00") // the API names the fault
})

test("the endpoints of 25 installations are a page", () => {
  assert.deepEqual(pageOf(null, 26), { begin: 0, end: 25, next: "25" })
  assert.equal(pageOf("25", 26).next, null)
  assert.equal(pageOf(null, 25).next, null)
})

test("deliveries are filtered by the types of Muster and of modules, each once", () => {
  const endpoints = [{ subscribed_event_types: ["shop.paid", "member.created"] }, { subscribed_event_types: ["shop.paid", "club.won"] }]
  assert.deepEqual(eventTypesOf(endpoints, ["shop.sent", "member.created"]), [...MUSTER_EVENTS, TEST_EVENT, "club.won", "shop.paid", "shop.sent"])
})

test("a body was sent only if the receiver may have got it", () => {
  const state = (status, ...attempts) => sentStateOf({ status, attempts })
  assert.equal(state("pending"), "next")
  assert.equal(state("canceled"), "unsent")
  assert.equal(state("failed", { class: "tls", status_code: null }), "unsent")
  assert.equal(state("pending", { class: "timeout", status_code: null }, { class: "dns", status_code: null }), "maybe")
  assert.equal(state("failed", { class: "internal", status_code: null }), "maybe")
  assert.equal(state("pending", { class: "http_5xx", status_code: 500 }, { class: "tls", status_code: null }), "sent")
})

test("the body of a delivery is shown with all digits, and as it is if it is not JSON", () => {
  assert.equal(indented('{"data":{"order_id":9007199254740993,"price":12.50}}'), '{\n  "data": {"order_id": 9007199254740993, "price": 12.50}\n}')
  assert.equal(indented('{"a":'), '{"a":')
})

test("each failure has a meaning and a next step", () => {
  const failures = Object.keys(deliveries.classes).filter(name => name !== "2xx")
  assert.deepEqual(Object.keys(deliveries.advice).sort(), failures.sort())
  for (const texts of Object.values(deliveries.advice)) assert.deepEqual(texts.map(text => text.endsWith(".")), [true, true])
})
