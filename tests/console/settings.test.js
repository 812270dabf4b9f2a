import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { followSetting, hasStorage, readSetting, writeSetting } from "../console/lib/settings.js"

/** A storage that other tabs change too; `isFull` refuses what is written. */
class Storage {
  items = new Map()
  isFull = false
  getItem(key) { return this.items.get(key) ?? null }
  removeItem(key) { this.items.delete(key) }
  setItem(key, value) {
    if (this.isFull) throw new Error("QuotaExceededError")
    this.items.set(key, value)
  }
}

const give = storage => Object.defineProperty(globalThis, "localStorage", { configurable: true, ...storage })
const events = new EventTarget()
const changed = (key, newValue) => events.dispatchEvent(Object.assign(new Event("storage"), { key, newValue }))
let storage

beforeEach(() => {
  globalThis.addEventListener = events.addEventListener.bind(events)
  globalThis.removeEventListener = events.removeEventListener.bind(events)
  storage = new Storage()
  give({ value: storage })
})

test("a setting that another tab removed is gone", () => {
  writeSetting("session", "open")
  storage.items.delete("muster.session")
  assert.equal(readSetting("session"), null)
})

test("without a storage a setting lasts until the page is left", () => {
  give({ get() { throw new Error("SecurityError") } })
  assert.equal(hasStorage(), false)
  assert.equal(readSetting("theme"), null)
  writeSetting("theme", "dark")
  assert.equal(readSetting("theme"), "dark")
  writeSetting("theme", null)
  assert.equal(readSetting("theme"), null)
})

test("what a full storage refused is newer than what it has", () => {
  writeSetting("theme", "dark")
  storage.isFull = true
  writeSetting("theme", "light")
  assert.deepEqual([hasStorage(), readSetting("theme")], [true, "light"])
  storage.isFull = false
  writeSetting("theme", "dark")
  assert.equal(readSetting("theme"), "dark")
})

test("the changes of other tabs are followed, and replace what the storage refused", () => {
  storage.isFull = true
  writeSetting("theme", "light")
  const seen = []
  const stop = followSetting("theme", value => seen.push([value, readSetting("theme")]))
  storage.items.set("muster.theme", "dark")
  changed("muster.keys", "off")
  changed("muster.theme", "dark")
  storage.items.clear()
  changed(null, null)
  stop()
  changed("muster.theme", "light")
  assert.deepEqual(seen, [["dark", "dark"], [null, null]])
})
