// Reads the file of an import: its encoding, its separator, and its records.
import { imports as t } from "../lib/texts_imports.js"
import { CsvReader, guessSeparator, readAll } from "./csv.js"

const SAMPLE = 256 * 1024 // bytes that decide on encoding and separator
/** @type {Array<[number[], string]>} */
const MARKS = [[[0xef, 0xbb, 0xbf], "utf-8"], [[0xff, 0xfe], "utf-16le"], [[0xfe, 0xff], "utf-16be"]]

/** The encoding by its mark, otherwise UTF-8 if it can be, otherwise windows-1252. @param {Uint8Array} bytes */
export const encodingOf = bytes => {
  const marked = MARKS.find(([mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked) return marked[1]
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return "utf-8"
  } catch {
    return "windows-1252"
  }
}

/** Whether a file is a workbook of a spreadsheet program: a ZIP file, or the older format of Excel. @param {Uint8Array} bytes */
export const isSpreadsheet = bytes => [[0x50, 0x4b, 0x03, 0x04], [0xd0, 0xcf, 0x11, 0xe0]]
  .some(mark => mark.every((byte, index) => bytes[index] === byte))

/** What the beginning of a file shows. Throws CsvFault. @param {Blob} file @param {string} [chosenEncoding] */
export const inspect = async (file, chosenEncoding) => {
  const bytes = new Uint8Array(await file.slice(0, SAMPLE).arrayBuffer())
  const encoding = chosenEncoding ?? encodingOf(bytes)
  if (isSpreadsheet(bytes)) return { isSpreadsheet: true, encoding, separator: ",", header: [], samples: [] }
  const text = new TextDecoder(encoding).decode(bytes)
  const separator = guessSeparator(text)
  const records = readAll(text, separator, file.size > bytes.length)
  return { isSpreadsheet: false, encoding, separator, header: records[0] ?? [], samples: records.slice(1) }
}

/** Calls onRecord for each record after the header, in order. It reads the file in pieces. */
export const readRecords = async (file, { encoding, separator }, onRecord) => {
  let count = 0
  let waiting = []
  const reader = new CsvReader(separator, cells => waiting.push(cells))
  const flush = async () => {
    const records = waiting
    waiting = []
    for (const cells of records) {
      if (count > 0) await onRecord(cells, count)
      count++
    }
  }
  const stream = file.stream().pipeThrough(new TextDecoderStream(encoding, { fatal: encoding === "utf-8" })).getReader()
  for (let part = await stream.read(); !part.done; part = await stream.read()) {
    reader.push(part.value)
    await flush()
  }
  reader.end()
  await flush()
  return Math.max(0, count - 1)
}

/**
 * The number of rows of a file, and the encoding that reads all of them. A sample without a letter beyond ASCII does not show
 * the encoding, so another one is found further on. @returns {Promise<{ total: number, encoding: string }>}
 */
export const readWhole = async (file, plan) => {
  const count = async encoding => ({ encoding, total: await readRecords(file, { ...plan, encoding }, () => {}) })
  try {
    return await count(plan.encoding)
  } catch (error) {
    if (!(error instanceof TypeError) || plan.encoding !== "utf-8") throw error
    const sample = new Uint8Array(await file.slice(0, SAMPLE).arrayBuffer())
    if (sample.some(byte => byte > 127)) throw new Error(t.notAllUtf8)
    return count("windows-1252")
  }
}
