// The filters of the list of members: in the address, for the API's lists, and for member jobs.
import { numberAsTyped } from "../lib/exact.js"
import { formatTime, momentOf } from "../lib/format.js"
import { isolate } from "../lib/isolate.js"
import { own } from "../lib/own.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { filters as t, members } from "../lib/texts_members.js"

const ATTRIBUTE = "attribute."
const ALL_SINCE = "1970-01-01T00:00:00.000Z" // a condition that every member meets

/** The keys of the attributes in an address. */
export const attributeKeys = query => Object.keys(query).filter(name => name.startsWith(ATTRIBUTE)).map(name => name.slice(ATTRIBUTE.length))

/** The name of an attribute's filter in the address, and in the API. */
export const attributeName = key => ATTRIBUTE + key

/** Whether the address has a filter apart from the search and the status. */
export const hasMore = query => Boolean(query.country || query.since || query.import) || attributeKeys(query).length > 0

export const isFiltered = query => Boolean(query.q || query.status) || hasMore(query)

const conditions = query => ({
  status: query.status, country: query.country, updated_since: momentOf(query.since, false), imported_by: query.import,
})

/** Whether a search finds one mail address only. @param {string | undefined} text */
export const isAddress = (text = "") => text.includes("@") && /\.\w+$/.test(trimmed(text))

/** The parameters of the API for what the person searches. The newest members come first if the API can sort them so. */
export const parametersOf = query => {
  const text = trimmed(query.q ?? "")
  const search = text ? (isAddress(text) ? { email: text } : { q: text }) : {}
  const attributes = Object.fromEntries(attributeKeys(query).map(key => [attributeName(key), query[attributeName(key)]]))
  const given = conditions(query)
  const isSorted = search.q || given.updated_since || given.imported_by
  return { ...search, ...given, ...attributes, ...(isSorted ? {} : { order: "newest" }) }
}

/** The list compares a number as it is typed, so a job has to get it with the same digits. */
const typed = (text, type) => {
  if (type === "boolean") return text === "true"
  return type === "number" ? numberAsTyped(trimmed(text)) ?? text : text
}

/** The filter of a member job for the same members. @param {Array<{ key: string, type: string }>} registry */
export const jobFilterOf = (query, registry) => {
  const types = Object.fromEntries(registry.map(({ key, type }) => [key, type]))
  const keys = attributeKeys(query)
  const given = { q: trimmed(query.q ?? ""), ...conditions(query) }
  const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value))
  if (keys.length) filter.attributes = Object.fromEntries(keys.map(key => [key, typed(query[attributeName(key)], types[key])]))
  return Object.keys(filter).length ? filter : { updated_since: ALL_SINCE }
}

/** Whether a job's filter selects all members. */
export const isEveryone = filter => new Date(filter.updated_since).getTime() === 0 && Object.keys(filter).length === 1

const valueText = value => (typeof value === "boolean" ? (value ? texts.parts.yes : texts.parts.no) : String(value))

/** A job's filter as pairs of names and values. imports: file names by the id of an import. */
export const pairsOf = (filter, registry, imports = {}) => {
  if (isEveryone(filter)) return [[members.title, t.all]]
  const labels = Object.fromEntries(registry.map(({ key, label }) => [key, label]))
  return [
    filter.q && [t.q, filter.q],
    filter.status && [t.status, members.statusNames[filter.status]],
    filter.country && [t.country, filter.country],
    filter.updated_since && [t.since, formatTime(filter.updated_since)],
    filter.imported_by && [t.import, imports[filter.imported_by] ?? t.otherImport],
    ...Object.entries(filter.attributes ?? {}).map(([key, value]) => [own(labels, key) ?? key, valueText(value)]),
  ].filter(Boolean)
}

/** @type {Record<string, string>} */
const NAMES = { q: t.q, status: t.status, country: t.country, updated_since: t.since, imported_by: t.import }

/**
 * What people call the value at a path of a list's query or of a job's filter: attribute.points, filter.attributes.points.
 * @param {string} path @param {Array<{ key: string, label: string }>} registry
 */
export const filterNameOf = (path, registry) => {
  const name = path.replace(/^filter\./, "")
  const key = /^attributes?\.(.*)$/.exec(name)?.[1]
  return key === undefined ? own(NAMES, name) : registry.find(one => one.key === key)?.label ?? key
}

/** A job's filter in one line. */
export const summaryOf = (filter, registry) => (isEveryone(filter) ? t.all
  : pairsOf(filter, registry).map(([name, value]) => `${isolate(name)}: ${isolate(value)}`).join(", "))
