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

/** A number as people write it: "1.234,5" and "1,234.5" are 1234.5. Anything else is null. */
export const numberIn = text => {
  const plain = text.replace(/[\s'’]/g, "")
  const comma = plain.lastIndexOf(",")
  const point = plain.lastIndexOf(".")
  const decimal = comma > point ? "," : "."
  const other = decimal === "," ? "." : ","
  const normalized = plain.replaceAll(other, "").replace(decimal, ".")
  return /^[+-]?\d+(\.\d+)?$/.test(normalized) ? Number(normalized) : null
}

/** A cell as a value of the type; text that has another form remains text. */
export const valueOf = (text, type, dates) => {
  if (type === "date") return dateIn(text, dates) ?? text
  if (type === "number") return numberIn(text) ?? text
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
  return fits(cell => !/^[+0]\d/.test(cell) && numberIn(cell) !== null) ? "number" : "text"
}

// A spreadsheet's guard against formulas, which exports of Muster have too.
const withoutGuard = cell => (/^'\s*[=+\-@＝＋－＠'\t\r\n]/.test(cell) ? cell.slice(1) : cell)

/**
 * @param {string[]} cells
 * @param {Array<{ target: string, type: string, dates: string }>} columns one for each column of the file
 */
export const payloadOf = (cells, columns) => {
  /** @type {Record<string, any>} */
  const payload = {}
  const attributes = {}
  columns.forEach(({ target, type, dates }, index) => {
    const text = withoutGuard(cells[index] ?? "").trim()
    if (!target || text === "") return
    const value = valueOf(text, type, dates)
    if (target.startsWith("attribute:")) attributes[target.slice(10)] = value
    else payload[target] = value
  })
  if (Object.keys(attributes).length) payload.attributes = attributes
  return payload
}
