// Addresses of the console: #/o/ORGANIZATION/PATH?QUERY. Screens outside an organization have no /o/ part.
import { createStore } from "./store.js"
import { useState } from "./view.js"

const PARAMETER = /^[\w-]+$/ // ids and words: it becomes a part of the path of a call
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
      if (!part.startsWith(":")) return part === path[index]
      parameters[part.slice(1)] = path[index]
      return PARAMETER.test(path[index])
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

/** Goes to an address at once; the browser reports the change of the address later. @param {string} hash */
export const go = hash => {
  location.hash = hash
  route.set(parse(hash))
}

/** The address of the current screen, without the query. */
export const placeNow = () => format(route.get().organization, route.get().path)

/** A function that says whether the screen of the component is still the current one. @returns {() => boolean} */
export const useIsHere = () => {
  const [here] = useState(placeNow)
  return () => placeNow() === here
}

/**
 * A function that goes from the screen of the component to another one of the same organization. When the person has left the
 * screen in the meantime, it does nothing: the record of an action must not be looked for in another organization.
 */
export const useOpen = () => {
  const isHere = useIsHere()
  /** @param {string[]} path @param {Record<string, string | null | undefined>} [query] */
  return (path, query) => {
    if (isHere()) go(address(path, query))
  }
}

/**
 * Changes the query of the current screen without an entry in the browser's history.
 * @param {Record<string, string | null | undefined>} query
 */
export const replaceQuery = query => {
  const { organization, path } = route.get()
  history.replaceState(null, "", format(organization, path, query))
  route.set(parse(location.hash))
}
