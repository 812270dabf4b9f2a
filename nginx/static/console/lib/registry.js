// The organization's registry of attributes, which has several pages if it is large, and values of its types.
import { getAll } from "./api.js"
import { numberOf } from "./exact.js"
import { trimmed } from "./text.js"

/** All attributes, also the disabled ones. @param {AbortSignal} [signal] @returns {Promise<Api.Attribute[]>} */
export const allAttributes = signal => getAll("/v1/attributes", "attributes", undefined, signal)

/**
 * The labels of attributes by their keys, for records that name attributes. It reads the registry only if the record needs it. Without
 * a registry it has none, and the keys are shown. @param {boolean} isNeeded @param {AbortSignal} [signal]
 */
export const labelsIf = async (isNeeded, signal) => {
  const registry = isNeeded ? await allAttributes(signal).catch(() => []) : []
  return Object.fromEntries(registry.map(({ key, label }) => [key, label]))
}

/** The number of a text, also with a plus or zeros before it; null for another text. @param {string} text */
const numberIn = text => {
  const plain = trimmed(text).replace(/^\+(?=[\d.])/, "").replace(/^(-?)0+(?=\d)/, "$1")
  const value = Number(plain)
  const isExact = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
  return numberOf(plain) ?? (isExact ? value : null)
}

/**
 * The value of an attribute for the API, from the text of its control. Text that is not of the type stays as it is, so that
 * the API names the fault. A form keeps the text: "1." is not a number yet, and the number 1 in its place deletes the point.
 * @param {string | undefined} type @param {any} value
 */
export const valueIn = (type, value) => {
  if (typeof value !== "string" || trimmed(value) === "") return value
  if (type === "boolean") return value === "true"
  return type === "number" ? numberIn(value) ?? value : value
}
