// The rows of a key's origins.
import { trimmed } from "../lib/text.js"
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useRef } from "../lib/view.js"
import { Field, Group } from "../ui/parts.js"

const MOST = 50 // origins of a key

/** The origin in an address that a person pastes: without its path, and with https:// if there is no scheme. @param {string} text */
export const originIn = text => {
  const typed = trimmed(text)
  const [, origin] = /^(https?:\/\/[^/?#\s]+)[/?#]\S*$/i.exec(typed) ?? []
  if (origin) return origin
  return /^[a-z0-9*-]+(\.[a-z0-9-]+)+(:\d+)?$/i.test(typed) ? `https://${typed}` : typed
}

/** The origins to send: rows that are empty are left out. @param {string[]} rows */
export const originsIn = rows => rows.map(originIn).filter(Boolean)

/**
 * The fault of each row, from those of the rows that were sent. A row that has another origin since then has none.
 * @param {string[]} rows @param {string[]} sent @param {Record<string, string>} faults
 */
export const faultsOfRows = (rows, sent, faults) => {
  const left = originsIn(sent).map((origin, index) => ({ origin, fault: faults[`allowed_origins[${index}]`] }))
  return rows.map(row => {
    const at = left.findIndex(({ origin }) => origin === originIn(row))
    return at < 0 ? undefined : left.splice(at, 1)[0].fault
  })
}

const messageOf = fault => (fault?.includes("URL") ? t.notOrigin : fault?.includes("twice") ? t.twice : fault)

/** sent: the rows that the faults are about. */
export const Origins = ({ rows, sent, faults, onChange }) => {
  const list = useRef(null)
  const messages = faultsOfRows(rows, sent, faults)
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
  return html`<${Group} legend=${t.origins} error=${faults.allowed_origins && (originsIn(sent).length > 0 ? faults.allowed_origins : t.noOrigin)}>
    <p class="hint">${t.originsHint}</p><div ref=${list}>${rows.map((row, index) => html`<div class="rowed" key=${index}>
      <${Field} label=${t.origin(index + 1)} error=${messageOf(messages[index])}>${attributes => html`
      <input ...${attributes} inputmode="url" autocapitalize="off" spellcheck=${false} required=${index === 0} value=${row} placeholder="https://"
        onInput=${event => set(index, event.target.value)} onBlur=${() => set(index, originIn(row))} />`}<//>
      ${rows.length > 1 && html`<button type="button" class="small" aria-label=${t.removeOrigin(index + 1)} onClick=${() => remove(index)}>${t.removeShort}</button>`}</div>`)}</div>
    ${rows.length < MOST && html`<button type="button" class="small" onClick=${add}>${t.addOrigin}</button>`}<//>`
}
