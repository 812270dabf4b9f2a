// Addresses of the console: #/o/ORGANIZATION/PATH?QUERY. Screens outside an organization have no /o/ part.
import { createStore } from "./store.js"

const ORGANIZATION = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * @typedef {object} Route
 * @property {string | null} organization
 * @property {string[]} path
 * @property {any} query texts by their names
 */

/** @param {string} part */
const decoded = part => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** @param {string} hash @returns {Route} */
export const parse = hash => {
  const [address, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s)
  const parts = address.split("/").filter(Boolean).map(decoded)
  const inside = parts[0] === "o" && ORGANIZATION.test(parts[1] ?? "")
  return {
    organization: inside ? parts[1] : null,
    path: inside ? parts.slice(2) : parts,
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/**
 * The address of a screen. Empty values of the query are left out.
 * @param {string | null} organization
 * @param {string[]} path
 * @param {Record<string, string | null | undefined>} [query]
 */
export const format = (organization, path, query = {}) => {
  const parts = (organization ? ["o", organization, ...path] : path).map(encodeURIComponent)
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return `#/${parts.join("/")}${given.length ? `?${new URLSearchParams(given)}` : ""}`
}

/**
 * The first pattern that matches a path: "members/:id" takes any second part.
 * @template T
 * @param {string[]} path
 * @param {Array<[string, T]>} patterns
 * @returns {{ target: T, parameters: Record<string, string> } | null}
 */
export const match = (path, patterns) => {
  for (const [pattern, target] of patterns) {
    const wanted = pattern.split("/")
    if (wanted.length !== path.length) continue
    /** @type {Record<string, string>} */
    const parameters = {}
    const fits = wanted.every((part, index) => {
      if (part.startsWith(":")) parameters[part.slice(1)] = path[index]
      return part.startsWith(":") || part === path[index]
    })
    if (fits) return { target, parameters }
  }
  return null
}

/** The route of the address bar. Call startRouter() once. */
export const route = createStore(parse(""))

export const startRouter = () => {
  route.set(parse(location.hash))
  addEventListener("hashchange", () => route.set(parse(location.hash)))
}

/** The address of a screen in the current organization. @param {string[]} path @param {Record<string, string | null | undefined>} [query] */
export const address = (path, query) => format(route.get().organization, path, query)

/** Goes to a screen of the current organization. @param {string[]} path @param {Record<string, string | null | undefined>} [query] */
export const open = (path, query) => void (location.hash = address(path, query))

/**
 * Changes the query of the current screen without an entry in the browser's history.
 * @param {Record<string, string | null | undefined>} query
 */
export const replaceQuery = query => {
  const { organization, path } = route.get()
  history.replaceState(null, "", format(organization, path, query))
  route.set(parse(location.hash))
}
