// Uploads the rows of a file: calls of up to 2,000 rows, each of which the server keeps whole or not at all.
import { call, isPassing } from "../lib/api.js"
import { jsonOf } from "../lib/exact.js"
import { csv as t } from "../lib/texts_csv.js"
import { payloadOf } from "./convert.js"
import { readRecords } from "./source.js"

const BATCH = 2000
const MOST_BYTES = 15 * 1024 * 1024 // of the rows of a call; the API takes a body of 16 MiB
// The API rejects a large body with more than 1,000 numbers of more than 19 digits (docs/api/conventions.md).
const MOST_LONG_NUMBERS = 1000
const LONG_NUMBER = /[\d.]{19,}/g
const TRIES = 6
const PAUSE = 1000 // milliseconds before the second try; doubled for each further one

/** A row of the file that no call can take. */
export class RowTooLarge extends Error {}

const encoder = new TextEncoder()

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
  let bytes = 0
  let longNumbers = 0
  let last = done
  const send = async () => {
    if (rows.length === 0 || isStopped()) return
    await stage(jobId, `{"rows":[${rows.join(",")}]}`, onPause)
    onProgress(last)
    rows = []
    bytes = 0
    longNumbers = 0
  }
  const total = await readRecords(plan.file, plan, async (cells, number) => {
    if (number <= done || isStopped()) return
    const row = jsonOf({ rowNumber: number, payload: payloadOf(cells, plan.columns) })
    const size = encoder.encode(row).length + 1 // with its comma
    const long = row.match(LONG_NUMBER)?.length ?? 0
    if (rows.length === BATCH || bytes + size > MOST_BYTES || longNumbers + long > MOST_LONG_NUMBERS) await send()
    if (size > MOST_BYTES) throw new RowTooLarge(t.rowTooLarge(number))
    rows.push(row)
    bytes += size
    longNumbers += long
    last = number
  })
  await send()
  return total
}
