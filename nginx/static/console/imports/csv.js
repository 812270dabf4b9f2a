// Reads CSV as src/base/csv.cpp does: quotes with doubled quotes inside, CRLF, LF or CR, any of three separators.

export const SEPARATORS = [",", ";", "\t"]

/** The separator that divides the first line most often, outside quotes. @param {string} text */
export const guessSeparator = text => {
  const counts = Object.fromEntries(SEPARATORS.map(one => [one, 0]))
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === "\n" || character === "\r") {
      if (SEPARATORS.some(one => counts[one])) break
    } else if (character in counts) counts[character]++
  }
  return SEPARATORS.reduce((best, one) => (counts[one] > counts[best] ? one : best))
}

/** A reader that takes the text in pieces. Lines without any cell are skipped. */
export class CsvReader {
  /** @param {string} separator @param {(cells: string[]) => void} onRecord */
  constructor(separator, onRecord) {
    this.separator = separator
    this.onRecord = onRecord
    this.cells = []
    this.cell = ""
    this.isQuoted = false
    this.wasQuote = false // a quote inside quotes, which ends them or is the first of two
    this.wasReturn = false
  }

  /** @param {string} text */
  push(text) {
    for (const character of text) this.take(character)
  }

  take(character) {
    if (this.wasReturn && character === "\n") {
      this.wasReturn = false
      return
    }
    this.wasReturn = false
    if (this.isQuoted && !this.wasQuote) {
      if (character === '"') this.wasQuote = true
      else this.cell += character
      return
    }
    if (this.wasQuote) {
      this.wasQuote = false
      if (character === '"') {
        this.cell += '"'
        return
      }
      this.isQuoted = false
    }
    this.takeOutside(character)
  }

  takeOutside(character) {
    if (character === '"' && this.cell === "") this.isQuoted = true
    else if (character === this.separator) this.endCell()
    else if (character === "\n" || character === "\r") {
      this.wasReturn = character === "\r"
      this.endRecord()
    } else this.cell += character
  }

  endCell() {
    this.cells.push(this.cell)
    this.cell = ""
  }

  endRecord() {
    if (this.cells.length === 0 && this.cell === "") return
    this.endCell()
    const cells = this.cells
    this.cells = []
    this.onRecord(cells)
  }

  /** The end of the file. */
  end() {
    this.endRecord()
  }
}

/** All records of a text. @param {string} text @param {string} separator */
export const readAll = (text, separator) => {
  /** @type {string[][]} */
  const records = []
  const reader = new CsvReader(separator, cells => records.push(cells))
  reader.push(text)
  reader.end()
  return records
}
