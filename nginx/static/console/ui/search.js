// Fields of a list that put their text into the address when the person pauses.
import { replaceQuery, route, useIsHere } from "../lib/router.js"
import { createStore, useStore } from "../lib/store.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { html, useEffect, useId, useRef, useState } from "../lib/view.js"

const LONGEST = 255 // characters of a text in a query of the API
const PAUSE = 300 // milliseconds without typing before a search

/** turn: counts the presses of the button that removes all filters. */
const clearing = createStore({ turn: 0 })

/**
 * Removes all filters from the address, except `kept`, and the text of a search that waits for the person to pause. Without a filter
 * it keeps its place and its focus, and does nothing.
 * @param {{ isFiltered: boolean, kept?: Record<string, string> }} props
 */
export const ClearFilters = ({ isFiltered, kept = {} }) => {
  const clear = () => {
    if (!isFiltered) return
    replaceQuery(kept)
    clearing.set({ turn: clearing.get().turn + 1 })
  }
  return html`<button type="button" aria-disabled=${!isFiltered} onClick=${clear}>${texts.parts.clear}</button>`
}

/** name: of the text in the query of the address. accepts: texts that are complete; others are still being typed. */
export const QueryField = ({ name, label, width = "", accepts = /(?:)/, ...rest }) => {
  const id = useId()
  const { query } = useStore(route)
  const value = query[name] ?? ""
  const sent = useRef(value)
  const [typed, setTyped] = useState(value)
  const isHere = useIsHere()
  const { turn } = useStore(clearing)
  const seen = useRef(turn)
  useEffect(() => {
    if (seen.current === turn) return
    seen.current = turn
    sent.current = value
    setTyped(value)
  }, [turn])
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value // the address was changed by something else
    setTyped(value)
  }, [value])
  useEffect(() => {
    const search = () => {
      if (turn !== clearing.get().turn || !isHere() || trimmed(typed) === sent.current || !accepts.test(trimmed(typed))) return
      sent.current = trimmed(typed)
      replaceQuery({ ...route.get().query, [name]: trimmed(typed) })
    }
    const timer = setTimeout(search, PAUSE)
    return () => clearTimeout(timer)
  }, [typed, turn])
  return html`<div class="field ${width}"><label for=${id}>${label}</label>
    <input id=${id} ...${rest} value=${typed} onInput=${event => setTyped(event.target.value)} /></div>`
}

export const SearchField = ({ label, placeholder }) =>
  html`<${QueryField} name="q" label=${label} width="wide" type="search" maxlength=${LONGEST} placeholder=${placeholder} />`
