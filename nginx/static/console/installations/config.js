// The configuration of an installation: between the JSON of the API and the fields of a form. Values stay as they are written, so
// that a long number or a text with line breaks does not change with another field.
import { isNumber, memberOf, parse } from "../lib/json.js"
import { own } from "../lib/own.js"
import { trimmed } from "../lib/text.js"

export const HIDDEN = "***" // what the API shows of a secret, and takes for "keep the stored value"

/**
 * @typedef {object} Property of the version's config_schema
 * @property {string} name
 * @property {string} type string, number or boolean
 * @property {boolean} isRequired
 * @property {boolean} isSecret
 * @property {string[]} choices empty: any value
 */

const textOf = value => value.value ?? ""
const isTrue = value => value?.value === "true"

/** The settings that a version has. @param {string} version its record as the API sends it @returns {Property[]} */
export const propertiesOf = version => (memberOf(memberOf(parse(version), "manifest"), "config_schema")?.members ?? []).map(({ name, value }) => ({
  name, type: textOf(memberOf(value, "type")), isRequired: isTrue(memberOf(value, "required")), isSecret: isTrue(memberOf(value, "secret")),
  choices: (memberOf(value, "enum")?.items ?? []).map(textOf),
}))

/**
 * The stored values by name: `text` for a form, `json` as the API sent it.
 * @param {string} installation its record as the API sends it
 * @returns {Record<string, { text: string, json: string }>}
 */
export const valuesOf = installation => Object.fromEntries((memberOf(parse(installation), "config")?.members ?? []).map(({ name, value }) =>
  [name, { text: textOf(value), json: installation.slice(value.start, value.end) }]))

const isStoredSecret = (property, stored) => property.isSecret && stored[property.name]?.text === HIDDEN

/** The choice that has a stored value: 1 and 1.0 are the same number. */
const choiceOf = ({ type, choices }, text) =>
  choices.find(one => one === text || (type === "number" && text !== "" && Number(one) === Number(text))) ?? text

/** What a form shows first. A secret's field is empty. */
export const fieldsOf = (properties, stored) => Object.fromEntries(properties.map(property =>
  [property.name, isStoredSecret(property, stored) ? "" : choiceOf(property, stored[property.name]?.text ?? "")]))

const jsonOf = ({ type }, text) => (type === "boolean" || (type === "number" && isNumber(trimmed(text))) ? trimmed(text) : JSON.stringify(text))

const memberFor = (property, fields, stored, removed) => {
  const { name } = property
  const text = fields[name]
  const kept = own(stored, name)
  if (isStoredSecret(property, stored) && text === "") return removed.has(name) ? null : JSON.stringify(HIDDEN)
  if (kept && text === fieldsOf([property], stored)[name] && kept.text !== HIDDEN) return kept.json
  return text === "" ? null : jsonOf(property, text)
}

/**
 * The config for the API. Empty fields are left out, values that did not change are sent as they were.
 * @param {Property[]} properties @param {Record<string, string>} fields @param {Set<string>} [removed] stored secrets to delete
 */
export const configOf = (properties, fields, stored = {}, removed = new Set()) => {
  const members = properties.map(property => [property.name, memberFor(property, fields, stored, removed)]).filter(([, json]) => json !== null)
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`
}

/** The names of stored values that the version does not have. */
export const droppedFrom = (properties, stored) => {
  const known = new Set(properties.map(property => property.name))
  return Object.keys(stored).filter(name => !known.has(name))
}
