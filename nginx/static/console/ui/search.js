// The search field of a list. It puts the text into the address when the person pauses.
import { replaceQuery, route } from "../lib/router.js"
import { html, useEffect, useId, useState } from "../lib/view.js"

const PAUSE = 300 // milliseconds without typing before a search

export const SearchField = ({ label, placeholder }) => {
  const id = useId()
  const [typed, setTyped] = useState(route.get().query.q ?? "")
  useEffect(() => {
    const search = () => {
      const { query } = route.get()
      if (typed.trim() !== (query.q ?? "")) replaceQuery({ ...query, q: typed.trim() })
    }
    const timer = setTimeout(search, PAUSE)
    return () => clearTimeout(timer)
  }, [typed])
  return html`<div class="field wide"><label for=${id}>${label}</label>
    <input id=${id} type="search" placeholder=${placeholder} value=${typed} onInput=${event => setTyped(event.target.value)} /></div>`
}
