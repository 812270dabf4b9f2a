import assert from "node:assert/strict"
import test from "node:test"
import { readPages, withError, withPage } from "../console/lib/load.js"

const first = { members: ["a"], next_cursor: "2", total: 3 }
const page = { members: ["b"], next_cursor: null }
const shown = { data: first, error: null, isLoading: false }

test("a further page is added to its list", () => {
  assert.deepEqual(withPage(shown, first, page, "members").data, { members: ["a", "b"], next_cursor: null, total: 3, pages: 2 })
})

test("a further page of another filter is dropped", () => {
  const loading = { ...shown, isLoading: true }
  assert.equal(withPage(loading, first, page, "members"), loading)
  const loaded = { ...shown, data: { members: ["c"], next_cursor: null } }
  assert.equal(withPage(loaded, first, page, "members"), loaded)
  const failed = { data: null, error: new Error("away"), isLoading: false }
  assert.equal(withPage(failed, first, page, "members"), failed)
})

test("an error of a reload keeps the data of the same inputs", () => {
  const error = new Error("away")
  const loaded = { data: first, error: null, isLoading: false, key: ["locked", 0] }
  assert.deepEqual(withError(loaded, ["locked", 1], error), { data: first, error, isLoading: false, key: ["locked", 1] })
  assert.equal(withError(loaded, ["active", 0], error).data, null)
  assert.equal(withError({ data: null, error: null, isLoading: true, key: [] }, [0], error).data, null)
})

test("a list that is read again has as many pages as before, if there are so many", async () => {
  const cursors = []
  const fetchPage = async cursor => {
    const at = Number(cursor ?? 0)
    cursors.push(at)
    return { members: [at], next_cursor: at < 2 ? String(at + 1) : null, ...(at === 0 ? { total: 3 } : {}) }
  }
  assert.deepEqual(await readPages(fetchPage, "members", 1), { members: [0], next_cursor: "1", total: 3 })
  assert.deepEqual(await readPages(fetchPage, "members", 2), { members: [0, 1], next_cursor: "2", total: 3, pages: 2 })
  assert.deepEqual(await readPages(fetchPage, "members", 9), { members: [0, 1, 2], next_cursor: null, total: 3, pages: 3 })
  assert.deepEqual(cursors, [0, 0, 1, 0, 1, 2])
})
