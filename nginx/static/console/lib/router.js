// Addresses of the console: #/o/ORGANIZATION/PATH?QUERY. Screens outside an organization have no /o/ part.
import { beginAt, placeOf } from "./returning.js"
import { createStore } from "./store.js"
import { dropQuestion, isUnsaved, mayLeave } from "./unsaved.js"
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

/** The address of a screen in the current organization. @param {string[]} path @param {Record<string, string | null | undefined>} [query] */
export const address = (path, query) => format(route.get().organization, path, query)

/** The address of the current screen, without the query. */
export const placeNow = () => format(route.get().organization, route.get().path)

/** Whether an address leads to the screen that is shown. @param {string} hash */
const isShown = hash => {
  const { organization, path } = parse(hash)
  return format(organization, path) === placeNow()
}

let place = 0 // of the shown entry in the history of the tab
let accepted = "" // the address to which the person goes after the question
let onReturn = /** @type {(() => void) | null} */ (null) // to the entry that the question is about

/**
 * Shows the screen of the address bar. Each entry of the history notes its place, so that moved() can return from it. left: where
 * on the screen the person was, if the entry was left by a link.
 */
const arrive = () => {
  accepted = ""
  const { place: noted = place + 1, left } = history.state ?? {}
  place = noted
  history.replaceState({ place }, "")
  beginAt(left)
  route.set(parse(location.hash))
}

/** Goes to an address at once, without a question; the browser reports the change of the address later. @param {string} hash */
export const go = hash => {
  if (hash !== location.hash) history.replaceState({ place, left: placeOf(hash) }, "")
  location.hash = hash
  arrive()
}

/**
 * The address has changed. If that would lose something, the browser goes back, and the person is asked. An entry without a
 * place, of an address that was replaced before the browser reported it, may be on either side: the page does not return twice.
 */
const moved = async () => {
  const { hash } = location
  const steps = (history.state?.place ?? place + 1) - place
  const hasReturned = onReturn !== null
  onReturn?.()
  onReturn = null
  if (hasReturned && steps !== 0) dropQuestion()
  if (hasReturned || steps === 0 || hash === accepted || isShown(hash) || !isUnsaved()) return arrive()
  const returned = new Promise(resolve => void (onReturn = () => resolve(undefined)))
  history.go(-steps)
  const leaves = await mayLeave()
  await returned // a person may answer before
  if (!leaves) return undefined
  accepted = hash
  return history.go(steps)
}

/** Goes to an address, after a question if that would lose something. @param {string} hash */
export const leaveTo = async hash => {
  if (isShown(hash) || await mayLeave()) go(hash)
}

/** The links of the console. A link that opens another tab or window loses nothing. @param {MouseEvent} event */
const clicked = event => {
  const link = event.target instanceof Element ? event.target.closest("a") : null
  const hash = link?.getAttribute("href") ?? ""
  const opensOther = link?.target || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
  if (!hash.startsWith("#/") || opensOther) return
  event.preventDefault()
  leaveTo(hash)
}

export const startRouter = () => {
  arrive()
  addEventListener("hashchange", moved)
  addEventListener("click", clicked, true)
}

/** Replaces the current address by another one. @param {string} hash */
export const replace = hash => {
  history.replaceState(history.state, "", hash)
  route.set(parse(hash))
}

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
  replace(format(organization, path, query))
}
