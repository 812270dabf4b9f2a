// Guesses which field of a member a column of a file holds, from its name.
import { trimmed } from "../lib/text.js"
import { NAMES } from "./column_names.js"

const SPECIAL = { ß: "ss", æ: "ae", œ: "oe", ø: "oe", ł: "l" }
const UMLAUTS = { "ä": "ae", "ö": "oe", "ü": "ue" }

/** A name without case, accents, spaces and punctuation: "E-Mail Adresse" is "emailadresse". @param {string} name */
export const keyOf = name => name.toLowerCase().normalize("NFC").replace(/[äöü]/g, one => UMLAUTS[one])
  .replace(/[ßæœøł]/g, one => SPECIAL[one]).normalize("NFD").replace(/[^a-z0-9]/g, "")

/**
 * The target of each column: a core field, "attribute:KEY", or "" for a column that is not imported. No target occurs twice.
 * @param {string[]} header
 * @param {Array<{ key: string, label: string }>} attributes the enabled ones
 * @returns {string[]}
 */
export const guessTargets = (header, attributes) => {
  const keys = header.map(keyOf)
  const targets = header.map(() => "")
  const assign = (target, names) => {
    if (targets.includes(target)) return
    const found = names.map(name => keys.findIndex((key, index) => key === name && targets[index] === "")).find(index => index >= 0)
    if (found !== undefined) targets[found] = target
  }
  const enabled = new Set(attributes.map(({ key }) => `attribute:${key}`))
  // An export names an attribute by its target if its key is also that of a field.
  header.forEach((name, index) => void (enabled.has(name) && !targets.includes(name) && (targets[index] = name)))
  for (const [target] of NAMES) if (!target.startsWith("attribute:")) assign(target, [keyOf(target)])
  for (const { key, label } of attributes) assign(`attribute:${key}`, [keyOf(key), keyOf(label)].filter(Boolean))
  for (const [target, names] of NAMES) {
    if (!target.startsWith("attribute:") || enabled.has(target)) assign(target, names.split(" "))
  }
  return targets
}

/** A key for a new attribute of this column: "T-Shirt Größe" is "t_shirt_groesse". @param {string} name */
export const attributeKeyOf = name => {
  const key = name.split(/[^\p{L}\p{N}]+/u).map(keyOf).filter(Boolean).join("_").slice(0, 64)
  return /^[a-z]/.test(key) ? key : key && `a_${key}`.slice(0, 64)
}

/** Whether the first row of a file is a member, and not the names of columns. @param {string[]} header */
export const looksLikeMember = header => header.some(cell => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(trimmed(cell)))

/** The mapping of an import job, as POST /v1/imports takes it. */
export const mappingOf = (header, targets) => ({
  columns: header.map((sourceColumn, index) => {
    const target = targets[index]
    if (!target) return { sourceColumn, target: "ignored" }
    if (target.startsWith("attribute:")) return { sourceColumn, target: "attribute", attributeKey: target.slice(10) }
    return { sourceColumn, target: "core_field", fieldKey: target }
  }),
})

/** The targets of a job's mapping, by its columns. */
export const targetsOf = mapping => mapping.columns.map(column =>
  (column.target === "attribute" ? `attribute:${column.attributeKey}` : column.fieldKey ?? ""))

const MOST_CHARACTERS = 200 // of a name; the API takes 255

/** The API takes no control character, such as a line break in a cell of a spreadsheet. */
const nameIn = cell => {
  const characters = [...trimmed(cell.replace(/[\p{Cc}\p{Zl}\p{Zp} ]+/gu, " "))]
  return trimmed(characters.slice(0, MOST_CHARACTERS).join(""))
}

/** Names for columns: unique and not empty, because a mapping needs that. "Name", "Name (2)", "Column 3". */
export const uniqueHeader = cells => {
  const seen = new Set()
  return cells.map((cell, index) => {
    const base = nameIn(cell) || `Column ${index + 1}`
    let name = base
    for (let count = 2; seen.has(name); count++) name = `${base} (${count})`
    seen.add(name)
    return name
  })
}
