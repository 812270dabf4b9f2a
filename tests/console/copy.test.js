import assert from "node:assert/strict"
import test from "node:test"
import { fileOf } from "../console/lib/copy.js"

const bytesOf = async file => [...new Uint8Array(await file.arrayBuffer())]

test("a table that is saved has its type and the mark of UTF-8, other text has not", async () => {
  const table = fileOf("members.csv", "ü")
  assert.equal(table.type, "text/csv")
  assert.deepEqual(await bytesOf(table), [0xef, 0xbb, 0xbf, 0xc3, 0xbc])
  const text = fileOf("codes.txt", "1")
  assert.equal(text.type, "text/plain")
  assert.deepEqual(await bytesOf(text), [0x31])
})
