// Parts that the screens of imports use.
import { formatNumber } from "../lib/format.js"
import { own } from "../lib/own.js"
import { texts } from "../lib/texts.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useRef } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const KINDS = { completed: "good", failed: "bad", canceled: "plain", undone: "plain" }

export const StateBadge = ({ state }) => html`<${Badge} kind=${KINDS[state] ?? "warn"}>${t.states[state] ?? state}<//>`

/** The state of a job; "reopened" if it accepts rows again after a dry run. @param {Pick<Api.ImportJob, "state" | "phase_started_at" | "created_at">} job */
export const stateOf = ({ state, phase_started_at: since, created_at: created }) => (state === "staging" && since && since !== created ? "reopened" : state)

const ATTRIBUTE = "attributes."

/** Whether one of the paths of faults names an attribute. @param {Array<string | null>} paths */
export const nameAttributes = paths => paths.some(path => path?.startsWith(ATTRIBUTE))

/**
 * The name of a field that a fault is about. A row may have fields of any name.
 * @param {string} path @param {Record<string, string>} [labels] of attributes
 */
export const fieldName = (path, labels = {}) => {
  if (!path.startsWith(ATTRIBUTE)) return own(texts.member.fields, path) ?? path
  const key = path.slice(ATTRIBUTE.length)
  return own(labels, key) ?? key
}

/**
 * It forgets the last file on a click: a browser reports no change if the same file is chosen again. If the person chooses none, it
 * has the last one again. Other attributes are those of the input.
 */
export const FileInput = ({ onFile, ...rest }) => {
  const last = useRef(/** @type {File | null} */ (null))
  const change = ({ target }) => {
    if (!target.files[0]) return
    last.current = target.files[0]
    onFile(target.files[0])
  }
  const restore = ({ target }) => {
    const files = new DataTransfer()
    if (last.current) files.items.add(last.current)
    target.files = files.files
  }
  return html`<input type="file" ...${rest} onClick=${event => void (event.target.value = "")} onChange=${change} onCancel=${restore} />`
}

/** Numbers with their names, side by side. */
export const Counts = ({ pairs }) => html`<dl class="counts">${pairs.filter(([, count]) => count !== undefined)
  .map(([name, count]) => html`<div><dt>${name}</dt><dd>${formatNumber(count)}</dd></div>`)}</dl>`

export const Progress = ({ label, done, total, note }) => html`<div class="box">
  <p><strong>${label}</strong> ${formatNumber(done)} ${t.of} ${formatNumber(total)} ${note}</p>
  <progress aria-label=${label} value=${done} max=${Math.max(total, 1)}></progress></div>`

/** The steps of an import; the one of the state is current. */
export const Steps = ({ current }) => html`<ol class="steps">${t.steps.map((text, index) =>
  html`<li aria-current=${index === current ? "step" : undefined}>${text}</li>`)}</ol>`
