// Names that people chose, within sentences. Their direction marks must not change how the text around them is read.

const FIRST = "\u2068" // first strong isolate: the text until LAST has a direction of its own
const LAST = "\u2069"
// Letters that are written from right to left, and marks that change the direction.
const DIRECTED = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** A text that does not change the direction of the text around it. Marks in it end with it. @param {string} text */
export const isolate = text => {
  if (!DIRECTED.test(text)) return text
  let depth = 0
  const closed = text.replace(/[\u2066-\u2069]/g, mark => {
    if (mark === LAST && depth === 0) return ""
    depth += mark === LAST ? -1 : 1
    return mark
  })
  return FIRST + closed + LAST.repeat(depth + 1)
}

/** @param {any} given @returns {any} */
const isolated = given => (typeof given === "string" ? isolate(given) : Array.isArray(given) ? given.map(isolated) : given)

/**
 * Texts whose functions isolate what they are given. @template T @param {T} texts @returns {T}
 */
export const isolating = texts => {
  /** @type {any} */
  const any = texts
  if (typeof any === "function") return /** @type {any} */ ((/** @type {any[]} */ ...given) => any(...given.map(isolated)))
  if (Array.isArray(any)) return /** @type {any} */ (any.map(isolating))
  if (!any || typeof any !== "object") return texts
  return /** @type {any} */ (Object.fromEntries(Object.entries(any).map(([name, text]) => [name, isolating(text)])))
}
