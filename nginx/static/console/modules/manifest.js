// The manifest of a version as JSON: an example, its faults at the place that they name, and the editor.
import { JsonFault, lineOf, parse, placeOf, printed } from "../lib/json.js"
import { modules as t } from "../lib/texts_modules.js"
import { html, useRef } from "../lib/view.js"
import { Field } from "../ui/parts.js"
import { eventPrefixOf } from "./parts.js"

const LEAST_LINES = 12
const MOST_LINES = 32 // that the editor shows at once

/** A manifest that can be published. */
export const exampleOf = module => printed(parse(JSON.stringify({
  name: module.name,
  description: t.exampleDescription,
  events: { emits: [`${eventPrefixOf(module.slug)}order_paid`], subscribes: ["member.created", "member.updated", "member.removed"] },
  config_schema: {
    currency: { type: "string", required: true, enum: ["EUR", "GBP", "USD"] },
    discount: { type: "number" },
    test_mode: { type: "boolean" },
    payment_key: { type: "string", secret: true },
  },
  permissions: [],
})))

/** The next version by the last number of a version's name: 1.0.9 is followed by 1.0.10. */
export const nextVersion = version => (/\d/.test(version)
  ? version.replace(/(\d+)(?=\D*$)/, digits => String(BigInt(digits) + 1n).padStart(digits.length, "0")) : `${version}-2`)

/**
 * A fault of a manifest, and its place in the text.
 * @typedef {{ path: string, message: string, start: number, end: number, line: number }} Fault
 */

/** The text's own fault, if it is not an object in JSON. @param {string} text @returns {Fault[]} */
export const faultsIn = text => {
  const faultAt = (message, start) => [{ path: "", message, start, end: Math.min(start + 1, text.length), line: lineOf(text, start) }]
  try {
    return parse(text).kind === "object" ? [] : faultAt(t.notObject, 0)
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return faultAt(error.message, error.position)
  }
}

/**
 * What the server found, in the order of the text. @param {string} text that is JSON @param {Record<string, string>} fields messages by path
 * @returns {Fault[]}
 */
export const faultsOf = (text, fields) => {
  const value = parse(text)
  return Object.entries(fields).filter(([path]) => /^manifest(\.|$)/.test(path)).map(([path, message]) => {
    const place = placeOf(value, path.slice("manifest".length))
    return { path: path.slice("manifest.".length), message, ...place, line: lineOf(text, place.start) }
  }).sort((one, other) => one.start - other.start)
}

const select = (area, { start, end, line }) => {
  area.focus()
  area.setSelectionRange(start, end)
  const height = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = Math.max(0, (line - 4) * height)
}

const Numbers = ({ count, faults, lines }) => {
  const faulty = new Set(faults.map(fault => fault.line))
  return html`<div class="gutter" aria-hidden="true" ref=${lines}>${Array.from({ length: count }, (_, index) => html`
    <span class=${faulty.has(index + 1) ? "faulty" : ""}>${index + 1}</span>`)}</div>`
}

/** The text with the numbers of its lines. `onInput` is missing for a text that cannot change. */
export const Manifest = ({ text, faults = [], hint, tools, onInput }) => {
  const area = useRef(null)
  const lines = useRef(null)
  const count = text.split("\n").length
  return html`<div class="manifest">
    ${faults.length > 0 && html`<div class="box error" role="alert"><p>${t.faults(faults.length)}</p><ul class="list">${faults.map(fault => html`<li>
      <button type="button" class="link" onClick=${() => select(area.current, fault)}>${t.faultAt(fault.line, fault.path, fault.message)}</button></li>`)}</ul></div>`}
    <${Field} label=${t.manifest} hint=${hint}>${attributes => html`
      ${tools}<div class="numbered"><${Numbers} count=${count} faults=${faults} lines=${lines} />
        <textarea ...${attributes} ref=${area} rows=${Math.min(Math.max(count, onInput ? LEAST_LINES : 1) + 1, MOST_LINES)} wrap="off" spellcheck=${false} autocomplete="off"
          autocapitalize="off" readonly=${!onInput} aria-invalid=${faults.length ? "true" : undefined} value=${text} onInput=${event => onInput?.(event.target.value)}
          onScroll=${event => void (lines.current.scrollTop = event.target.scrollTop)} /></div>`}<//></div>`
}

export const ManifestHelp = () => html`<details><summary>${t.help}</summary><dl class="facts">${t.helpRows.map(([name, text]) => html`
  <div><dt><code>${name}</code></dt><dd>${text}</dd></div>`)}</dl></details>`
