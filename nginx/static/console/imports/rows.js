// Rows of an import with their results.
import { announce } from "../lib/announce.js"
import { getExactly } from "../lib/exact.js"
import { useList } from "../lib/load.js"
import { own } from "../lib/own.js"
import { labelsIf } from "../lib/registry.js"
import { address } from "../lib/router.js"
import { imports as t } from "../lib/texts_imports.js"
import { csv } from "../lib/texts_csv.js"
import { html, useState } from "../lib/view.js"
import { Filtered, More, Table } from "../ui/parts.js"
import { valueText } from "../members/parts.js"
import { SURPLUS } from "./convert.js"
import { CorrectRow } from "./correct.js"
import { fieldName, nameAttributes } from "./parts.js"

const LENGTH = 40 // characters of a faulty value that the table shows
const shortened = text => (text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text)

/** A fault with the value: Country “XX” is not … */
const sentenceOf = ({ path, message }, payload, labels) => {
  if (path === SURPLUS) return csv.surplus
  const value = path.startsWith("attributes.") ? own(payload.attributes ?? {}, path.slice(11)) : own(payload, path)
  return `${fieldName(path, labels)} ${value === undefined || value === null ? "" : `“${shortened(valueText(value))}” `}${message}`
}

const ABOUT = /^The attribute "([^"]+)"/ // the beginning of the API's messages about an attribute

/** Why a row was not imported, with the values that are wrong. labels: of attributes, by their keys. */
export const reasonOf = (row, labels = {}) => (row.fields.length ? row.fields.map(fault => sentenceOf(fault, row.payload, labels)).join("; ")
  : row.error_message?.replace(ABOUT, (all, key) => t.attribute(own(labels, key) ?? key)))
const namesAttribute = row => nameAttributes(row.fields.map(fault => fault.path)) || ABOUT.test(row.error_message ?? "")
const nameOf = payload => payload.display_name || [payload.first_name, payload.last_name].filter(Boolean).join(" ")

const Row = ({ row, canCorrect, correct }) => html`<tr>
  <td class="number">${row.row_number}</td>
  <td>${row.user_id ? html`<a href=${address(["members", row.user_id])}>${row.payload.email ?? "–"}</a>` : row.payload.email ?? "–"}</td>
  <td>${nameOf(row.payload) || "–"}</td><td>${t.rowStates[row.state] ?? row.state}</td><td>${row.reason || "–"}</td>
  ${canCorrect && html`<td>${row.state === "invalid" && html`<button type="button" class="small" aria-label=${t.correctRow(row.row_number)}
    onClick=${correct}>${t.correct}</button>`}</td>`}</tr>`

/** A page of rows with their reasons, so that labels of attributes do not come later. @returns {Promise<any>} */
const pageOf = async (id, query, signal) => {
  const page = await getExactly(`/v1/imports/${id}/rows`, query, signal)
  const labels = await labelsIf(page.rows.some(namesAttribute), signal)
  return { ...page, rows: page.rows.map(row => ({ ...row, reason: reasonOf(row, labels) })) }
}

/** states: of the rows to list, separated by commas. code: only rows with this error code. onCorrected: the server took a row. */
export const Rows = ({ job, states, code = "", canCorrect = false, refresh, onCorrected = () => {} }) => {
  const list = useList((cursor, signal) => pageOf(job.id, { state: states, error_code: code, cursor, limit: 50 }, signal),
    "rows", [job.id, states, code], job.state)
  const [row, correct] = useState(null)
  const done = async () => {
    onCorrected()
    await (job.state === "staging" ? list.reload() : refresh())
    correct(null)
    announce(t.corrected)
  }
  const isToCorrect = canCorrect && states.includes("invalid")
  const columns = isToCorrect ? [...t.rowColumns, t.correctColumn] : t.rowColumns
  return html`<h2>${t.rows[states] ?? t.allRows}</h2><${Filtered} state=${list}>${() => html`
    ${list.items.length === 0 ? html`<p class="faint">${list.hasMore ? t.noneHere : t.noRowsLeft}</p>`
      : html`<${Table} caption=${t.rows[states] ?? t.allRows} columns=${columns} numbers=${[0]} isStacked=${true}>${list.items.map(one => html`
          <${Row} key=${one.id} row=${one} canCorrect=${isToCorrect} correct=${() => correct(one)} />`)}<//>`}
    <${More} list=${list} />`}<//>
    ${row && html`<${CorrectRow} job=${job} row=${row} refresh=${refresh} onDone=${done} onClose=${() => correct(null)} />`}`
}
