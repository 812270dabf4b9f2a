// Uploads the rows of a file: calls of up to 2,000 rows, each of which the server keeps whole or not at all.
import { call, isPassing } from "../lib/api.js"
import { jsonOf } from "../lib/exact.js"
import { csv as t } from "../lib/texts_csv.js"
import { payloadOf } from "./convert.js"
import { readRecords } from "./source.js"

const BATCH = 2000
// Of the rows of a call. The API takes a body of 16 MiB with up to 1,000 numbers of more than 19 digits and up to 1,000,000
// array entries and object members (docs/api/conventions.md).
const MOST = { bytes: 15 * 1024 * 1024, longNumbers: 1000, entries: 1_000_000 }
const NONE = { bytes: 0, longNumbers: 0, entries: 2 } // those of the text around the rows
const LONG_NUMBER = /[\d.]{19,}/g
const [COMMA, BRACKET, BRACE] = [...",[{"].map(character => character.charCodeAt(0))
const TRIES = 6
const PAUSE = 1000 // milliseconds before the second try; doubled for each further one

/** A row of the file that no call can take. */
export class RowTooLarge extends Error {}

const encoder = new TextEncoder()

/** @param {string} row */
const entriesOf = row => {
  let count = 0
  for (let at = 0; at < row.length; at++) {
    const code = row.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) count++
  }
  return count
}

/** What the row and its comma add to a call. Characters of texts count too. @param {string} row */
const partsOf = row => ({
  bytes: encoder.encode(row).length + 1,
  longNumbers: row.match(LONG_NUMBER)?.length ?? 0,
  entries: entriesOf(row) + 1,
})

/** @typedef {typeof NONE} Parts */
/** @param {Parts} one @param {Parts} other */
const sumOf = (one, other) => ({
  bytes: one.bytes + other.bytes,
  longNumbers: one.longNumbers + other.longNumbers,
  entries: one.entries + other.entries,
})

/** @param {Parts} parts */
const fits = parts =>
  parts.bytes <= MOST.bytes && parts.longNumbers <= MOST.longNumbers && parts.entries <= MOST.entries

const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Sends rows again after a passing failure: staging replaces rows by number, so a repetition is safe. */
const stage = async (jobId, json, onPause) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call("POST", `/v1/imports/${jobId}/rows`, { json, query: { faults: "keep" } })
    } catch (error) {
      if (!isPassing(error) || attempt === TRIES) throw error
      onPause(true)
      await wait(PAUSE * 2 ** (attempt - 1))
      onPause(false)
    }
  }
}

/**
 * Uploads a file from the row after `done`. isStopped: whether the screen was left.
 * @returns {Promise<number>} the number of rows of the file
 */
export const upload = async (jobId, plan, { done, onProgress, onPause, isStopped }) => {
  /** @type {string[]} */
  let rows = []
  let sum = NONE
  let last = done
  const send = async () => {
    if (rows.length === 0 || isStopped()) return
    await stage(jobId, `{"rows":[${rows.join(",")}]}`, onPause)
    onProgress(last)
    rows = []
    sum = NONE
  }
  const total = await readRecords(plan.file, plan, async (cells, number) => {
    if (number <= done || isStopped()) return
    const row = jsonOf({ rowNumber: number, payload: payloadOf(cells, plan.columns) })
    const parts = partsOf(row)
    if (rows.length === BATCH || !fits(sumOf(sum, parts))) await send()
    if (parts.bytes > MOST.bytes) throw new RowTooLarge(t.rowTooLarge(number))
    rows.push(row)
    sum = sumOf(sum, parts)
    last = number
  })
  await send()
  return total
}
