// Reads CSV as src/base/csv.cpp does: quotes with doubled quotes inside, CRLF, LF or CR, a separator of one character.
import { csv as t } from "../lib/texts_csv.js"

const SEPARATORS = [",", ";", "\t"]
const MOST_CHARACTERS = 1024 * 1024 // of a cell
const MOST_CELLS = 16_384 // of a record
const SEPARATOR_LINE = /^"?sep=([^"\r\n])"?[\r\n]/iu

/** Counts the separators of a record, one character at a time. */
class SeparatorCount {
  constructor() {
    this.counts = SEPARATORS.map(() => 0)
    this.begins = true // of a cell
    this.isQuoted = false
    this.wasQuote = false
  }

  /** @param {string} character @returns {boolean} whether the record continues */
  take(character) {
    const isQuote = character === '"'
    if (this.isQuoted && !this.wasQuote) {
      this.wasQuote = isQuote
      return true
    }
    this.isQuoted = isQuote && (this.begins || this.wasQuote)
    this.wasQuote = false
    const index = SEPARATORS.indexOf(character)
    if (index >= 0) this.counts[index]++
    this.begins = index >= 0
    return character !== "\n" && character !== "\r"
  }
}

/** The separator that a line such as sep=; names, or that divides the first record most often. @param {string} text */
export const guessSeparator = text => {
  const named = SEPARATOR_LINE.exec(text)
  if (named) return named[1]
  const count = new SeparatorCount()
  for (const character of text.replace(/^[\r\n]+/, "")) if (!count.take(character)) break
  return SEPARATORS[count.counts.indexOf(Math.max(...count.counts))]
}

/** A file that is not CSV. The message names the line. */
export class CsvFault extends Error {}

/** A reader that takes the text in pieces. Blank lines are skipped, and so is a first line that names the separator. */
export class CsvReader {
  /** @param {string} separator @param {(cells: string[]) => void} onRecord */
  constructor(separator, onRecord) {
    this.separator = separator
    this.onRecord = onRecord
    /** @type {string[]} */
    this.cells = []
    this.cell = ""
    /** @type {"begin" | "plain" | "quoted" | "quote"} quote: in quotes, which end with it or have it twice */
    this.place = "begin"
    this.wasReturn = false
    this.line = 1
    this.recordLine = 0 // on which the record began; 0: it has not begun
    this.quoteLine = 0
  }

  /** @param {string} text Throws CsvFault. */
  push(text) {
    let run = 0 // where the characters without a meaning begin
    for (let at = 0; at < text.length; at++) {
      const meaning = this.meaningAt(text, at)
      if (meaning === "") continue
      if (run < at) this.take(text.slice(run, at))
      this.take(meaning)
      run = at + meaning.length
      at = run - 1
    }
    if (run < text.length) this.take(text.slice(run))
  }

  /** A quotation mark, the end of a line or the separator; "" for another character. */
  meaningAt(text, at) {
    const character = text[at]
    if (character === '"' || character === "\n" || character === "\r") return character
    return character === this.separator[0] && text.startsWith(this.separator, at) ? this.separator : ""
  }

  /** @param {string} part a character with a meaning, or a run of others: a cell of a mebibyte has few parts */
  take(part) {
    const endsReturn = this.wasReturn && part === "\n"
    this.wasReturn = part === "\r"
    if (this.place === "quoted") this.takeQuoted(part)
    else if (this.place === "quote" && part === '"') this.append(part, "quoted")
    else if (!endsReturn) this.takeOutside(part)
    if (this.wasReturn || (part === "\n" && !endsReturn)) this.line++
  }

  takeQuoted(part) {
    if (part === '"') this.place = "quote"
    else this.append(part, "quoted")
  }

  takeOutside(part) {
    const isEnd = part === "\n" || part === "\r"
    if (this.recordLine === 0) {
      if (isEnd) return
      this.recordLine = this.line
    }
    if (isEnd) this.endRecord()
    else if (part === this.separator) this.endCell()
    else if (this.place === "quote") throw new CsvFault(t.afterQuote(this.line))
    else if (this.place === "begin" && part === '"') {
      this.place = "quoted"
      this.quoteLine = this.line
    } else this.append(part, "plain")
  }

  append(part, place) {
    this.cell += part
    this.place = place
    if (this.cell.length > MOST_CHARACTERS) throw new CsvFault(place === "quoted" ? t.longQuote(this.quoteLine) : t.longCell(this.line))
  }

  endCell() {
    if (this.cells.length === MOST_CELLS) throw new CsvFault(t.manyCells(this.line))
    this.cells.push(this.cell)
    this.cell = ""
    this.place = "begin"
  }

  endRecord() {
    this.endCell()
    const { cells, recordLine } = this
    this.cells = []
    this.recordLine = 0
    if (recordLine > 1 || !this.namesSeparator(cells)) this.onRecord(cells)
  }

  /** Whether these cells are a line such as sep=; or "sep=;". @param {string[]} cells */
  namesSeparator(cells) {
    return cells.join(this.separator).toLowerCase() === `sep=${this.separator.toLowerCase()}`
  }

  /** The end of the file. Throws CsvFault. */
  end() {
    if (this.place === "quoted") throw new CsvFault(t.openQuote(this.quoteLine))
    if (this.recordLine > 0) this.endRecord()
  }
}

/**
 * The records of a text. isCut: it is the beginning of a file, and its last record may be incomplete, except the header.
 * @param {string} text @param {string} separator Throws CsvFault.
 */
export const readAll = (text, separator, isCut = false) => {
  /** @type {string[][]} */
  const records = []
  const reader = new CsvReader(separator, cells => records.push(cells))
  reader.push(text)
  if (!isCut || (reader.place === "quoted" && records.length === 0)) reader.end()
  return records
}
