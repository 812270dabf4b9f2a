// Fields of a list that put their text into the address when the person pauses.
import { replaceQuery, route, useIsHere } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { html, useEffect, useId, useRef, useState } from "../lib/view.js"

const PAUSE = 300 // milliseconds without typing before a search

/** name: of the text in the query of the address. accepts: texts that are complete; others are still being typed. */
export const QueryField = ({ name, label, width = "", accepts = /(?:)/, ...rest }) => {
  const id = useId()
  const { query } = useStore(route)
  const value = query[name] ?? ""
  const sent = useRef(value)
  const [typed, setTyped] = useState(value)
  const isHere = useIsHere()
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value // the address was changed by something else
    setTyped(value)
  }, [value])
  useEffect(() => {
    const search = () => {
      if (!isHere() || typed.trim() === sent.current || !accepts.test(typed.trim())) return
      sent.current = typed.trim()
      replaceQuery({ ...route.get().query, [name]: typed.trim() })
    }
    const timer = setTimeout(search, PAUSE)
    return () => clearTimeout(timer)
  }, [typed])
  return html`<div class="field ${width}"><label for=${id}>${label}</label>
    <input id=${id} ...${rest} value=${typed} onInput=${event => setTyped(event.target.value)} /></div>`
}

export const SearchField = ({ label, placeholder }) =>
  html`<${QueryField} name="q" label=${label} width="wide" type="search" placeholder=${placeholder} />`
