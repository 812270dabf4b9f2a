// Converts the cells of a file to the payload of a row. It keeps what it cannot read, so that the server reports it.

/** @type {Array<[string, RegExp, number[]]>} */
const DATES = [
  ["iso", /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?$/, [1, 2, 3]],
  ["dmy", /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/, [3, 2, 1]],
  ["mdy", /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/, [3, 1, 2]],
]
const YES = new Set(["true", "yes", "y", "1", "x", "ja", "oui", "si", "sí", "sim"])
const NO = new Set(["false", "no", "n", "0", "nein", "non", "não"])

const dateIn = (text, format) => {
  const [, pattern, order] = DATES.find(([name]) => name === format) ?? DATES[0]
  const found = pattern.exec(text)
  if (!found) return null
  const [year, month, day] = order.map(index => Number(found[index]))
  const isReal = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day && month >= 1 && month <= 12
  return isReal ? `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}` : null
}

/** A date that can mean one day only: 28.02.1990, but not 01.02.1990. */
const onlyDateIn = text => {
  const found = new Set(DATES.map(([name]) => dateIn(text, name)).filter(Boolean))
  return found.size === 1 ? [...found][0] : null
}

/**
 * The format of dates that reads most of the cells. isSure: another format reads fewer of them.
 * @param {string[]} cells
 */
export const guessDates = cells => {
  const given = cells.map(cell => cell.trim()).filter(Boolean)
  const counts = DATES.map(([name]) => ({ name, count: given.filter(cell => dateIn(cell, name)).length }))
  counts.sort((one, other) => other.count - one.count)
  return { format: counts[0].count ? counts[0].name : "iso", isSure: counts[0].count === 0 || counts[0].count > counts[1].count }
}

const MAY_MEAN_TWO = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/ // "1,234": a thousand, or a number with decimals
const withoutSpaces = text => text.replace(/[\s'’]/g, "")

/** The decimal mark of a number: the last mark, or the chosen one if the number may mean two things. */
const decimalOf = (plain, numbers) => {
  if (MAY_MEAN_TWO.test(plain)) return numbers
  return plain.lastIndexOf(",") > plain.lastIndexOf(".") ? "," : "."
}

/**
 * A number as people write it: "1.234,5" and "1,234.5" are 1234.5. Anything else is null.
 * @param {string} text @param {string} [numbers] the decimal mark of the file, "" if it is not known: then "1,234" is null
 */
export const numberIn = (text, numbers = "") => {
  const plain = withoutSpaces(text)
  const decimal = decimalOf(plain, numbers)
  if (!decimal) return null
  const normalized = plain.replaceAll(decimal === "," ? "." : ",", "").replace(decimal, ".")
  return /^[+-]?\d+(\.\d+)?$/.test(normalized) ? Number(normalized) : null
}

/**
 * The decimal mark that the cells show. isSure: no cell may mean two things, or the others show only one mark.
 * @param {string[]} cells
 */
export const guessNumbers = cells => {
  const given = cells.map(withoutSpaces).filter(cell => /[.,]/.test(cell) && (MAY_MEAN_TWO.test(cell) || numberIn(cell) !== null))
  const marks = new Set(given.filter(cell => !MAY_MEAN_TWO.test(cell)).map(cell => decimalOf(cell, "")))
  const format = marks.size === 1 ? [...marks][0] : ""
  return { format, isSure: format !== "" || !given.some(cell => MAY_MEAN_TWO.test(cell)) }
}

/** What the sample of a file shows about its dates and numbers. @param {string[][]} samples @param {Array<{ type: string }>} columns */
export const guessFormats = (samples, columns) => {
  const cellsOf = type => samples.flatMap(cells => cells.filter((_, index) => columns[index]?.type === type))
  return { dates: guessDates(cellsOf("date")), numbers: guessNumbers(cellsOf("number")) }
}

/** A cell as a value of its column's type; text that has another form remains text. dates: "any" takes a date that has one meaning. */
export const valueOf = (text, { type, dates, numbers }) => {
  if (type === "date") return (dates === "any" ? onlyDateIn(text) : dateIn(text, dates)) ?? text
  if (type === "number") return numberIn(text, numbers) ?? text
  if (type === "boolean") {
    const word = text.toLowerCase()
    if (YES.has(word)) return true
    return NO.has(word) ? false : text
  }
  if (type === "multi_choice") return [...new Set(text.split(/[;|,]/).map(one => one.trim()).filter(Boolean))]
  return text
}

/**
 * The type of an attribute that fits all of the cells. Digits that are not a quantity, such as a postcode with a leading
 * zero or a telephone number, are text.
 * @param {string[]} cells
 */
export const guessType = cells => {
  const given = cells.map(cell => cell.trim()).filter(Boolean)
  const fits = test => given.length > 0 && given.every(test)
  if (DATES.some(([name]) => fits(cell => dateIn(cell, name) !== null))) return "date"
  if (fits(cell => /[a-z]/i.test(cell) && (YES.has(cell.toLowerCase()) || NO.has(cell.toLowerCase())))) return "boolean"
  return fits(cell => !/^[+0]\d/.test(cell) && numberIn(cell, ".") !== null) ? "number" : "text"
}

// A spreadsheet's guard against formulas, which exports of Muster have too.
const withoutGuard = cell => (/^'\s*[=+\-@＝＋－＠'\t\r\n]/.test(cell) ? cell.slice(1) : cell)

/**
 * @param {string[]} cells
 * @param {Array<{ target: string, type: string, dates: string, numbers: string }>} columns one for each column of the file
 */
export const payloadOf = (cells, columns) => {
  /** @type {Record<string, any>} */
  const payload = {}
  const attributes = {}
  columns.forEach((column, index) => {
    const { target } = column
    const text = withoutGuard(cells[index] ?? "").trim()
    if (!target || text === "") return
    const value = valueOf(text, column)
    if (target.startsWith("attribute:")) attributes[target.slice(10)] = value
    else payload[target] = value
  })
  if (Object.keys(attributes).length) payload.attributes = attributes
  return payload
}
