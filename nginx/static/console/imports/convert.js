// Converts the cells of a file to the payload of a row. It keeps what it cannot read, so that the server reports it.
import { numberOf } from "../lib/exact.js"
import { composed } from "../lib/composed.js"
import { trimmed } from "../lib/text.js"

/** A field that no member has. A row with more cells than the header has it, so that the server rejects the row and reports why. */
export const SURPLUS = "more_cells_than_columns"

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
  const given = cells.map(trimmed).filter(Boolean)
  const counts = DATES.map(([name]) => ({ name, count: given.filter(cell => dateIn(cell, name)).length }))
  counts.sort((one, other) => other.count - one.count)
  return { format: counts[0].count ? counts[0].name : "iso", isSure: counts[0].count === 0 || counts[0].count > counts[1].count }
}

const MAY_MEAN_TWO = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/ // "1,234": a thousand, or a number with decimals
const withoutSpaces = text => text.replace(/[\s'’]/g, "")

/**
 * The decimal mark of a number: the last mark, or the chosen one if the number may mean two things. A mark that occurs several
 * times, and is the only one, separates thousands.
 */
const decimalOf = (plain, numbers) => {
  if (MAY_MEAN_TWO.test(plain)) return numbers
  const [last, other] = plain.lastIndexOf(",") > plain.lastIndexOf(".") ? [",", "."] : [".", ","]
  return !plain.includes(other) && plain.indexOf(last) !== plain.lastIndexOf(last) ? other : last
}

/** The digits before the decimal mark without the marks of thousands; null unless three digits follow each. */
const withoutThousands = (whole, mark) => {
  const [first, ...groups] = whole.split(mark)
  return groups.every(group => group.length === 3) ? first + groups.join("") : null
}

/**
 * A number as people write it: "1.234,5" and "1,234.5" are 1234.5. A long integer keeps its digits. Anything else is null.
 * @param {string} text @param {string} [numbers] the decimal mark of the file, "" if it is not known: then "1,234" is null
 */
export const numberIn = (text, numbers = "") => {
  const plain = withoutSpaces(text)
  const decimal = decimalOf(plain, numbers)
  if (!decimal) return null
  const sign = plain.startsWith("-") ? "-" : ""
  const [whole, ...fractions] = plain.replace(/^[+-]/, "").split(decimal)
  const normalized = [withoutThousands(whole, decimal === "," ? "." : ","), ...fractions].join(".")
  if (!/^\d+(\.\d+)?$/.test(normalized)) return null
  return numberOf(sign + normalized.replace(/^0+(?=\d)/, ""))
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

const MOST_LISTED = 4096 // characters of an attribute's value
const MOST_SEPARATORS = 200
const LISTED = /;|\||,|:::|\/|\n/g // what may separate the choices of a cell
/** @type {WeakMap<string[], { known: Set<string>, longest: number }>} */
const ofChoices = new WeakMap()

const knownOf = choices => {
  const found = ofChoices.get(choices) ?? { known: new Set(choices), longest: Math.max(0, ...choices.map(one => one.length)) }
  ofChoices.set(choices, found)
  return found
}

/** Where each separator in a text begins and ends. */
const separatorsIn = text => [...text.matchAll(LISTED)].map(found => [found.index, found.index + found[0].length])

/**
 * The choices that make up a whole text; null if they do not. A choice may have separators in it: the longest choice counts. A
 * text that no attribute can hold is not searched.
 * @param {string} text @param {string[]} choices
 */
const choicesThatFill = (text, choices) => {
  const separators = text.length > MOST_LISTED ? [] : separatorsIn(text)
  if (text.length > MOST_LISTED || separators.length > MOST_SEPARATORS) return null
  const { known, longest } = knownOf(choices)
  const begins = [0, ...separators.map(([, end]) => end)]
  const ends = [...separators.map(([begin]) => begin), text.length]
  const partOf = (first, last) => trimmed(text.slice(begins[first], ends[last]))
  /** @type {number[]} the last place of the longest part that begins at a place, if choices fill the rest too; otherwise -1 */
  const lasts = begins.map(() => -1)
  for (let first = begins.length - 1; first >= 0; first--) {
    for (let last = first; last < ends.length; last++) {
      const part = partOf(first, last)
      if (part.length > longest) break
      const fills = last === ends.length - 1 || lasts[last + 1] >= 0
      if (fills && (part === "" || known.has(part))) lasts[first] = last
    }
  }
  if (lasts[0] < 0) return null
  /** @type {string[]} */
  const parts = []
  for (let first = 0; first < begins.length; first = lasts[first] + 1) parts.push(partOf(first, lasts[first]))
  return parts.filter(Boolean)
}

/** The choices of a cell, which are separated by semicolons, or else by bars, or else by commas, unless its choices show it. */
const choicesIn = (text, choices) => {
  const separator = [";", "|"].find(one => text.includes(one)) ?? ","
  const parts = choicesThatFill(text, choices) ?? text.split(separator).map(trimmed).filter(Boolean)
  return [...new Set(parts)]
}

/** A cell as a value of its column's type; text that has another form remains text. dates: "any" takes a date that has one meaning. */
export const valueOf = (text, { type, dates, numbers, choices = /** @type {string[]} */ ([]) }) => {
  if (type === "date") return (dates === "any" ? onlyDateIn(text) : dateIn(text, dates)) ?? text
  if (type === "number") return numberIn(text, numbers) ?? text
  if (type === "boolean") {
    const word = text.toLowerCase()
    if (YES.has(word)) return true
    return NO.has(word) ? false : text
  }
  if (type === "multi_choice") return choicesIn(text, choices)
  return text
}

/**
 * The type of an attribute that fits all of the cells. Digits that are not a quantity, such as a postcode with a leading
 * zero or a telephone number, are text.
 * @param {string[]} cells
 */
export const guessType = cells => {
  const given = cells.map(trimmed).filter(Boolean)
  const fits = test => given.length > 0 && given.every(test)
  if (DATES.some(([name]) => fits(cell => dateIn(cell, name) !== null))) return "date"
  if (fits(cell => /[a-z]/i.test(cell) && (YES.has(cell.toLowerCase()) || NO.has(cell.toLowerCase())))) return "boolean"
  return fits(cell => !/^[+0]\d/.test(cell) && numberIn(cell, ".") !== null) ? "number" : "text"
}

// A spreadsheet's guard against formulas, which exports of Muster have too.
const withoutGuard = cell => (/^'\s*[=+\-@＝＋－＠'\t\r\n]/.test(cell) ? cell.slice(1) : cell)

const textOf = (cell = "") => trimmed(withoutGuard(cell))

/**
 * @param {string[]} cells
 * @param {Array<{ target: string, type: string, dates: string, numbers: string, choices?: string[] }>} columns one for each column
 *   of the file
 */
export const payloadOf = (cells, columns) => {
  /** @type {Record<string, any>} */
  const payload = cells.slice(columns.length).some(cell => textOf(cell) !== "") ? { [SURPLUS]: true } : {}
  const attributes = {}
  columns.forEach((column, index) => {
    const { target } = column
    const text = textOf(cells[index])
    if (!target || text === "") return
    if (target.startsWith("attribute:")) attributes[target.slice(10)] = valueOf(composed(text), column)
    else payload[target] = valueOf(text, column)
  })
  if (Object.keys(attributes).length) payload.attributes = attributes
  return payload
}
