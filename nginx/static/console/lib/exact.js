// Numbers with all their digits. A number of JavaScript would round an integer beyond 2^53, which an attribute keeps.
import { call } from "./api.js"
import { DEEPEST_REPLY, isNumber, parse } from "./json.js"

const MOST_DIGITS = 308 // of an integer (docs/api/attributes.md)
const LONG = /\d{16}/ // JSON without such digits has no number that JSON.parse rounds
const UNREADABLE_DIGITS = new RegExp(`\\d{${MOST_DIGITS + 1}}`)

/** A number that JavaScript would round or write in another way, as JSON writes it. */
export class ExactNumber {
  /** @param {string} text */
  constructor(text) {
    this.text = text
  }

  toString() {
    return this.text
  }

  /** For comparisons. A body with it needs jsonOf. */
  toJSON() {
    return this.text
  }
}

/**
 * The number that a text is in JSON, so that jsonOf writes it as in the text. Null for a text that is not a number for the API.
 * @param {string} text @returns {number | ExactNumber | null}
 */
export const numberAsTyped = text => {
  if (!isNumber(text) || !Number.isFinite(Number(text)) || UNREADABLE_DIGITS.test(text)) return null
  return String(Number(text)) === text ? Number(text) : new ExactNumber(text)
}

/**
 * The value of a text that is a number in JSON; 2.50 is 2.5. Null for another text.
 * @param {string} text @returns {number | ExactNumber | null}
 */
export const numberOf = text => {
  const typed = numberAsTyped(text)
  const value = Number(text)
  return typed !== null && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : typed
}

/** JSON of a value in which exact numbers keep their digits. @param {any} value @returns {string} */
export const jsonOf = value => {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(one => jsonOf(one ?? null)).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`).join(",")}}`
}

/** @param {import("./json.js").Value} value @returns {any} */
const plain = ({ kind, value, members, items }) => {
  if (kind === "object") return Object.fromEntries(members.map(one => [one.name, plain(one.value)]))
  if (kind === "array") return items.map(plain)
  return kind === "string" ? value : numberOf(value) ?? JSON.parse(value)
}

/** The value of a JSON text. Long numbers in it are exact. @param {string} text @returns {any} */
export const parsed = text => (LONG.test(text) ? plain(parse(text, DEEPEST_REPLY)) : JSON.parse(text))

/**
 * A call whose body and reply keep the digits of long numbers.
 * @param {string} method @param {any} path
 * @param {{ body?: any, query?: Record<string, any>, headers?: Record<string, string>, signal?: AbortSignal }} [options]
 * @returns {Promise<{ data: any, headers: Headers }>}
 */
export const callExactly = async (method, path, { body, ...options } = {}) => {
  const json = body === undefined ? undefined : jsonOf(body)
  const { data, headers } = await call(method, path, { ...options, json, asText: true })
  return { data: data && parsed(data), headers }
}

/** @param {any} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const getExactly = async (path, query, signal) => (await callExactly("GET", path, { query, signal })).data
