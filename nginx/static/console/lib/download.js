// Files of the API that come in several parts.
import { call } from "./api.js"
import { route } from "./router.js"

/**
 * A CSV file, without the header line of the later parts. All parts are of the organization in which the download began.
 * @param {string} path @param {Record<string, any>} query
 * @param {{ parameter: string, header: string }} next the parameter of the next part, and the header with its value
 */
export const wholeFile = async (path, query, next, onPart = (/** @type {number} */ _count) => {}) => {
  const headers = { "X-Organization": /** @type {string} */ (route.get().organization) }
  /** @type {string[]} */
  const parts = []
  /** @type {string | null | undefined} */
  let position
  do {
    const reply = await call("GET", path, { query: { ...query, [next.parameter]: position }, headers })
    parts.push(parts.length ? reply.data.slice(reply.data.indexOf("\r\n") + 2) : reply.data)
    position = reply.headers.get(next.header)
    onPart(parts.length)
  } while (position)
  return parts.join("")
}
