import assert from "node:assert/strict"
import { test } from "node:test"
import { upload } from "../console/imports/staging.js"

const MIB = 1024 * 1024
const CELLS = 16
const COLUMNS = ["email", "display_name", ...Array.from({ length: CELLS }, (_, index) => `attribute:a${index}`)].map(target => ({ target, type: "text" }))

/** Uploads rows with these cells, after an address, from the row after `done`. @returns the calls, the progress and the error */
const run = async (rows, done = 0) => {
  const calls = []
  const progress = []
  globalThis.fetch = async (path, { method, body }) => {
    calls.push({ request: `${method} ${path}`, bytes: new TextEncoder().encode(body).length, rows: JSON.parse(body).rows })
    return new Response("{}", { headers: { "Content-Type": "application/json" } })
  }
  const header = COLUMNS.map((_, index) => `c${index}`).join(",")
  const file = new Blob([`${header}\n`, ...rows.map((cells, index) => `p${index + 1}@a.example,${cells.join(",")}\n`)])
  const plan = { file, encoding: "utf-8", separator: ",", columns: COLUMNS }
  const steps = { done, onProgress: row => progress.push(row), onPause: () => {}, isStopped: () => false }
  const { total, error } = await upload("j", plan, steps).then(found => ({ total: found, error: null }), fault => ({ total: 0, error: fault }))
  return { calls, progress, total, error }
}
const counts = ({ calls }) => calls.map(({ rows }) => rows.length)

test("rows are sent in calls of 2,000, from the first one that the server does not have", async () => {
  const done = await run(Array(4001).fill(["Ann"]), 1)
  assert.deepEqual([done.total, counts(done), done.progress], [4001, [2000, 2000], [2001, 4001]])
  assert.equal(done.calls[0].request, "POST /v1/imports/j/rows?faults=keep")
  assert.deepEqual(done.calls[0].rows[0], { rowNumber: 2, payload: { email: "p2@a.example", display_name: "Ann" } })
})

test("large rows are sent in calls of less than 16 MiB, in bytes of UTF-8", async () => {
  const done = await run(Array(5).fill(Array(3).fill("ü".repeat(MIB))))
  assert.deepEqual([done.error, counts(done), done.progress], [null, [2, 2, 1], [2, 4, 5]])
  for (const { bytes } of done.calls) assert.ok(bytes < 16 * MIB)
})

test("a call has at most 1,000 long numbers, because the API rejects more", async () => {
  const done = await run(Array(2500).fill(["12345678901234567890"]))
  assert.deepEqual([done.error, counts(done)], [null, [1000, 1000, 500]])
})

test("a call has at most 1,000,000 array entries and object members, because the API rejects more", async () => {
  const done = await run(Array(1500).fill(Array(10).fill("x".repeat(100))))
  assert.deepEqual([done.error, counts(done)], [null, [1500]])
  const full = await run(Array(1500).fill(Array(10).fill(`"${",[".repeat(50)}"`)))
  assert.deepEqual([full.error, counts(full)], [null, [985, 515]])
})

test("a row that no call can take is named after the rows before it were sent", async () => {
  const done = await run([["Ann"], Array(15).fill("x".repeat(MIB)), ["Bob"]])
  assert.match(done.error.message, /^Row 2 is larger than 15 MiB/)
  assert.deepEqual([counts(done), done.progress], [[1], [1]])
})
