// Uploads the rows of a file: calls of 2,000 rows, each of which the server keeps whole or not at all.
import { isPassing, post } from "../lib/api.js"
import { payloadOf } from "./convert.js"
import { readRecords } from "./source.js"

const BATCH = 2000
const TRIES = 6
const PAUSE = 1000 // milliseconds before the second try; doubled for each further one

const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Sends rows again after a passing failure: staging replaces rows by number, so a repetition is safe. */
const stage = async (jobId, rows, onPause) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await post(`/v1/imports/${jobId}/rows`, { rows }, { faults: "keep" })
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
  let rows = []
  const send = async () => {
    if (rows.length === 0 || isStopped()) return
    await stage(jobId, rows, onPause)
    onProgress(rows.at(-1).rowNumber)
    rows = []
  }
  const total = await readRecords(plan.file, plan, async (cells, number) => {
    if (number <= done || isStopped()) return
    rows.push({ rowNumber: number, payload: payloadOf(cells, plan.columns) })
    if (rows.length === BATCH) await send()
  })
  await send()
  return total
}
