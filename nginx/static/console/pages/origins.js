// The rows of a key's origins.
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useRef } from "../lib/view.js"
import { Field } from "../ui/parts.js"

const MOST = 50 // origins of a key

/** The origin in an address that a person pastes: without its path, and with https:// if there is no scheme. @param {string} text */
export const originIn = text => {
  const trimmed = text.trim()
  const [, origin] = /^(https?:\/\/[^/?#\s]+)[/?#]\S*$/i.exec(trimmed) ?? []
  if (origin) return origin
  return /^[a-z0-9*-]+(\.[a-z0-9-]+)+(:\d+)?$/i.test(trimmed) ? `https://${trimmed}` : trimmed
}

/** The origins to send: rows that are empty are left out. @param {string[]} rows */
export const originsIn = rows => rows.map(originIn).filter(Boolean)

/** The fault of each row, from those of the origins that were sent. @param {string[]} rows @param {Record<string, string>} faults */
export const faultsOfRows = (rows, faults) => {
  let sent = -1
  return rows.map(row => {
    if (!row.trim()) return undefined
    sent += 1
    return faults[`allowed_origins[${sent}]`]
  })
}

const messageOf = fault => (fault?.includes("URL") ? t.notOrigin : fault?.includes("duplicate") ? t.twice : fault)

export const Origins = ({ rows, error, onChange }) => {
  const list = useRef(null)
  const faults = faultsOfRows(rows, error?.fields ?? {})
  const set = (index, text) => onChange(rows.map((row, at) => (at === index ? text : row)))
  const focusLast = () => setTimeout(() => [...list.current.querySelectorAll("input")].at(-1)?.focus())
  const add = () => {
    onChange([...rows, ""])
    focusLast()
  }
  const remove = index => {
    onChange(rows.filter((_, at) => at !== index))
    focusLast()
  }
  return html`<fieldset ref=${list}><legend>${t.origins}</legend><p class="hint">${t.originsHint}</p>
    ${rows.map((row, index) => html`<div class="rowed" key=${index}><${Field} label=${t.origin(index + 1)} error=${messageOf(faults[index])}>${attributes => html`
      <input ...${attributes} inputmode="url" autocapitalize="off" spellcheck="false" required=${index === 0} value=${row} placeholder="https://"
        onInput=${event => set(index, event.target.value)} onBlur=${() => set(index, originIn(row))} />`}<//>
      ${rows.length > 1 && html`<button type="button" class="small" aria-label=${t.removeOrigin(index + 1)} onClick=${() => remove(index)}>${t.removeShort}</button>`}</div>`)}
    ${error?.fields?.allowed_origins && html`<p class="fault">${error.fields.allowed_origins}</p>`}
    ${rows.length < MOST && html`<button type="button" class="small" onClick=${add}>${t.addOrigin}</button>`}</fieldset>`
}
