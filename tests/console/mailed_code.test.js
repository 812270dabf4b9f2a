import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { forgetMailed, keepMailed, mailedTo } from "../console/lib/mailed_code.js"
import { signedOut, takeSession } from "../console/lib/session.js"

const MINUTE = 60_000
const NAME = "muster.code"
const signedIn = { two_factor: { enrolled: true, verified: false }, seats: [], active_organization_id: null, expires_at: "2026-11-28T14:00:00Z" }
const give = storage => Object.defineProperty(globalThis, "sessionStorage", { configurable: true, ...storage })
// A clock that stands. The mock timers of node 18, which is Debian's, have no Date.
const stopClock = (context, time) => context.mock.method(Date, "now", () => Date.parse(time))
let items

beforeEach(() => {
  items = new Map()
  give({ value: { getItem: key => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: key => items.delete(key) } })
})

test("the address of a mailed code is kept while the code is valid", context => {
  stopClock(context, "2026-11-28T10:00:00Z")
  assert.equal(mailedTo(), null)
  keepMailed("ada@example.org")
  assert.deepEqual(JSON.parse(items.get(NAME)), { email: "ada@example.org", until: Date.parse("2026-11-28T10:05:00Z") })
  stopClock(context, "2026-11-28T10:04:59.999Z")
  assert.equal(mailedTo(), "ada@example.org")
  stopClock(context, "2026-11-28T10:05:00Z")
  assert.deepEqual([mailedTo(), items.size], [null, 0])
})

test("an address is not kept longer because the clock was set back", context => {
  stopClock(context, "2026-11-28T10:00:00Z")
  keepMailed("ada@example.org")
  stopClock(context, "2026-11-28T09:00:00Z")
  assert.deepEqual([mailedTo(), items.size], [null, 0])
})

test("another address and a sign-in remove what is kept, and a page without a session does not", () => {
  keepMailed("ada@example.org")
  signedOut()
  assert.equal(mailedTo(), "ada@example.org")
  forgetMailed()
  assert.equal(mailedTo(), null)
  keepMailed("ada@example.org")
  takeSession(signedIn)
  assert.deepEqual([mailedTo(), items.size], [null, 0])
})

test("without a storage, or with another text in it, the sign-in begins with the address", () => {
  for (const text of ["", "null", "[]", '{"email":5}', `{"email":["a"],"until":${Date.now() + MINUTE}}`]) {
    items.set(NAME, text)
    assert.equal(mailedTo(), null)
  }
  const refuse = () => { throw new Error("SecurityError") }
  for (const storage of [{ get: refuse }, { value: { getItem: refuse, setItem: refuse, removeItem: refuse } }, { value: undefined }]) {
    give(storage)
    keepMailed("ada@example.org")
    assert.equal(mailedTo(), null)
    forgetMailed()
    takeSession(signedIn)
  }
})
