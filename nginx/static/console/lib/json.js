// A reader of JSON that knows where each value is in the text, and keeps numbers as they are written: JSON.parse would
// round a long number. It rejects what the API rejects too: duplicate names.

/**
 * @typedef {object} Value
 * @property {"object" | "array" | "string" | "literal"} kind literal: a number, true, false or null
 * @property {number} start
 * @property {number} end
 * @property {string} value of a string, its text; of another literal, the text as it is written
 * @property {Member[]} members of an object
 * @property {Value[]} items of an array
 */

/**
 * @typedef {object} Member
 * @property {string} name
 * @property {number} start of the name
 * @property {Value} value
 */

/** A fault in the text, and its position. */
export class JsonFault extends Error {
  /** @param {string} message @param {number} position */
  constructor(message, position) {
    super(message)
    this.position = position
  }
}

const DEEPEST = 64 // levels of a body of the API
/** Levels of a reply, which has further ones around the values of a body. */
export const DEEPEST_REPLY = 72
const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
const WORD = /(?:true|false|null)(?!\w)/y

/** @param {string} text */
export const isNumber = text => new RegExp(`^(?:${NUMBER.source})$`).test(text)

class Reader {
  /** @param {string} text @param {number} deepest */
  constructor(text, deepest) {
    this.text = text
    this.deepest = deepest
    this.position = 0
  }

  /** Takes what a pattern matches here, or nothing: null. @param {RegExp} pattern */
  take(pattern) {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.text)?.[0] ?? null
    if (found !== null) this.position += found.length
    return found
  }

  /** Takes this character, after spaces. @param {string} character */
  is(character) {
    this.take(SPACE)
    if (this.text[this.position] !== character) return false
    this.position += 1
    return true
  }

  /** @param {string} expected @returns {never} */
  fail(expected) {
    const found = this.text[this.position]
    throw new JsonFault(`Expected ${expected} instead of ${found === undefined ? "the end" : JSON.stringify(found)}.`, this.position)
  }

  /** @returns {Value} */
  value(depth = 0) {
    if (depth > this.deepest) throw new JsonFault(`At most ${this.deepest} levels are allowed.`, this.position)
    this.take(SPACE)
    const start = this.position
    /** @param {Value["kind"]} kind @param {Partial<Value>} content @returns {Value} */
    const made = (kind, content) => ({ kind, start, end: this.position, value: "", members: [], items: [], ...content })
    if (this.is("{")) return made("object", { members: this.members(depth), end: this.position })
    if (this.is("[")) return made("array", { items: this.items(depth), end: this.position })
    const string = this.take(STRING)
    if (string !== null) return made("string", { value: JSON.parse(string) })
    const literal = this.take(NUMBER) ?? this.take(WORD)
    return literal === null ? this.fail("a value") : made("literal", { value: literal })
  }

  /** @param {Set<string>} known the names that the object has already, to which this one is added */
  name(known) {
    this.take(SPACE)
    const start = this.position
    const text = this.take(STRING) ?? this.fail("a name in double quotes")
    const name = JSON.parse(text)
    if (known.has(name)) throw new JsonFault(`${text} is there twice.`, start)
    known.add(name)
    return { name, start }
  }

  /** @param {number} depth @returns {Member[]} */
  members(depth) {
    /** @type {Member[]} */
    const members = []
    /** @type {Set<string>} */
    const known = new Set()
    if (this.is("}")) return members
    do {
      const { name, start } = this.name(known)
      if (!this.is(":")) this.fail("a colon")
      members.push({ name, start, value: this.value(depth + 1) })
    } while (this.is(","))
    return this.is("}") ? members : this.fail("a comma or }")
  }

  /** @param {number} depth @returns {Value[]} */
  items(depth) {
    /** @type {Value[]} */
    const items = []
    if (this.is("]")) return items
    do items.push(this.value(depth + 1)); while (this.is(","))
    return this.is("]") ? items : this.fail("a comma or ]")
  }
}

/** @param {string} text @param {number} [deepest] @returns {Value} Throws JsonFault. */
export const parse = (text, deepest = DEEPEST) => {
  const reader = new Reader(text, deepest)
  const value = reader.value()
  reader.take(SPACE)
  return reader.position === text.length ? value : reader.fail("the end")
}

/** The value of an object's member, or undefined. @param {Value | undefined} object @param {string} name @returns {Value | undefined} */
export const memberOf = (object, name) => object?.members.find(one => one.name === name)?.value

/**
 * The place of a path such as `.events.emits[0]`: of the value that it names, or of the nearest one around it. A member
 * begins with its name.
 * @param {Value} value @param {string} path @returns {{ start: number, end: number }}
 */
export const placeOf = (value, path, start = value.start) => {
  const place = { start, end: value.end }
  for (const { name, start: begin, value: inner } of value.members) {
    const rest = path.slice(name.length + 1)
    if (path.startsWith(`.${name}`) && /^(\.|\[|$)/.test(rest)) return placeOf(inner, rest, begin)
  }
  const index = /^\[(\d+)\]/.exec(path)
  const item = index && value.items[Number(index[1])]
  return item ? placeOf(item, path.slice(index[0].length)) : place
}

/** The number of the line of a position, from 1. @param {string} text @param {number} position */
export const lineOf = (text, position) => text.slice(0, position).split("\n").length

const LONGEST_LINE = 80
/** @param {Value} value @returns {boolean} */
const isPlain = value => value.kind === "string" || value.kind === "literal" || (value.kind === "array" && value.items.every(isPlain))

/** @param {Value} value @returns {string} */
const onOneLine = value => {
  if (value.kind === "string") return JSON.stringify(value.value)
  if (value.kind === "literal") return value.value
  if (value.kind === "array") return `[${value.items.map(onOneLine).join(", ")}]`
  return `{${value.members.map(one => `${JSON.stringify(one.name)}: ${onOneLine(one.value)}`).join(", ")}}`
}

/** A value with line breaks, except in short parts without objects. Numbers stay as they are written. @param {Value} value @returns {string} */
export const printed = (value, indent = "") => {
  const line = onOneLine(value)
  const parts = [...value.items, ...value.members.map(one => one.value)]
  const isShort = line.length <= LONGEST_LINE && (isPlain(value) || (indent !== "" && parts.every(isPlain)))
  if (parts.length === 0 || isShort) return line
  const inner = `${indent}  `
  const lines = value.kind === "array" ? value.items.map(one => printed(one, inner))
    : value.members.map(one => `${JSON.stringify(one.name)}: ${printed(one.value, inner)}`)
  const [open, close] = value.kind === "array" ? "[]" : "{}"
  return `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`
}
