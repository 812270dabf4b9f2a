import assert from "node:assert/strict"
import { webcrypto } from "node:crypto"
import { beforeEach, test } from "node:test"
import { createOnce } from "../console/lib/create.js"
import { parse, route } from "../console/lib/router.js"
import { takeSession } from "../console/lib/session.js"

globalThis.crypto ??= webcrypto // browsers have it, node 18 does not

const SESSION = { two_factor: { enrolled: true, verified: true }, admin: { id: "a" }, seats: [], invitations: [],
  active_organization_id: "o", expires_at: "2026-11-28T14:00:00Z" }
const HERE = "01a1fd07-6e99-7265-b40a-2831efbbc0ee"
const THERE = "01a1fd07-6e99-7265-b40a-2831efbbc0ef"
const visit = organization => route.set(parse(`#/o/${organization}/keys`))
const answer = status => () => new Response(JSON.stringify(status === 201 ? { id: "k" } : { error: { code: "BUSY", message: "busy" } }),
  { status, headers: { "Content-Type": "application/json" } })
const lost = () => { throw new TypeError("away") }
const interrupted = () => new Response('{"id":', { status: 201, headers: { "Content-Type": "application/json" } })

/** @returns {string[]} the Idempotency-Keys that were sent */
const serve = (...answers) => {
  const keys = []
  globalThis.fetch = async (path, { headers }) => {
    keys.push(headers["Idempotency-Key"])
    return answers.shift()()
  }
  return keys
}

beforeEach(() => {
  takeSession(SESSION)
  visit(HERE)
})

test("a form repeats its request with the same key until it succeeds", async () => {
  const keys = serve(lost, interrupted, answer(503), answer(201), answer(201))
  const create = createOnce()
  const send = () => create("/v1/api-keys", { name: "sync" })
  for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(send())
  assert.deepEqual(await send(), { id: "k" })
  await send()
  assert.match(keys[0], /^[0-9a-f-]{36}$/)
  assert.deepEqual([new Set(keys.slice(0, 4)).size, new Set(keys).size], [1, 2])
})

test("another body, path or organization gets another key, and the first one stays", async () => {
  const keys = serve(...Array(5).fill(lost))
  const create = createOnce()
  const send = (path, name) => assert.rejects(create(path, { name }))
  await send("/v1/api-keys", "sync")
  await send("/v1/api-keys", "night")
  await send("/v1/modules", "sync")
  visit(THERE)
  await send("/v1/api-keys", "sync")
  visit(HERE)
  await send("/v1/api-keys", "sync")
  assert.deepEqual([new Set(keys).size, keys[4]], [4, keys[0]])
})

test("each form has keys of its own", async () => {
  const keys = serve(lost, lost)
  for (const create of [createOnce(), createOnce()]) await assert.rejects(create("/v1/modules", undefined, { json: "{}" }))
  assert.notEqual(keys[0], keys[1])
})
