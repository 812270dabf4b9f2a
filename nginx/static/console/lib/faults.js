// The faults of a reply: next to the fields of a form, and in a list of the others.
import { withoutFields } from "./api.js"
import { isolate } from "./isolate.js"

/** Whether a message of the API is about a value that it does not name: "is required". @param {string} message */
export const isPredicate = message => /^(is|are|must|has|cannot|does|contains) /.test(message)

/** "filter.updated_since" as words. @param {string} path */
const wordsOf = path => path.replace(/\[\d+\]/g, "").replace(/[._]/g, " ")

/** @param {string} name @param {string} message */
const lineOf = (name, message) => (name ? `${isolate(name)}${isPredicate(message) ? "" : ":"} ${message}` : message)

/**
 * The faults at a path and below it: "“XX” is not a country". @param {any} error @param {string} path
 * @param {string[]} [values] those that were sent at an index
 */
export const faultsAt = (error, path, values = []) => [...new Set(Object.entries(error?.fields ?? {})
  .filter(([at]) => at === path || at.startsWith(`${path}[`) || at.startsWith(`${path}.`))
  .map(([at, message]) => {
    const index = Number(/\[(\d+)\]$/.exec(at)?.[1])
    return values[index] !== undefined ? `“${isolate(values[index])}” ${message}` : message
  }))].join(". ")

/**
 * An error with a line for each fault that is not next to a field. @param {any} error @param {(path: string) => boolean} isShown
 * @param {(path: string) => string | undefined} [nameOf] what people call the value at a path
 */
export const otherFaults = (error, isShown, nameOf = () => undefined) => {
  const rest = withoutFields(error, isShown)
  return rest && { ...rest, fields: Object.fromEntries(Object.entries(rest.fields).map(([path, message]) => [lineOf(nameOf(path) ?? wordsOf(path), message), ""])) }
}
