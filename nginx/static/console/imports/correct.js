// Correcting one row in place: the job returns to staging, and the row replaces the one with its number.
import { post } from "../lib/api.js"
import { callExactly } from "../lib/exact.js"
import { faultsAt, otherFaults } from "../lib/faults.js"
import { useAction, useLoad } from "../lib/load.js"
import { own } from "../lib/own.js"
import { allAttributes } from "../lib/registry.js"
import { texts } from "../lib/texts.js"
import { imports as t } from "../lib/texts_imports.js"
import { csv } from "../lib/texts_csv.js"
import { useTyped } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { Dialog, ErrorBox, Loaded, TextField } from "../ui/parts.js"
import { valueText } from "../members/parts.js"
import { targetsOf } from "./columns.js"
import { SURPLUS, payloadOf } from "./convert.js"

const valueOf = (payload, target) => (target.startsWith("attribute:") ? own(payload.attributes, target.slice(10)) : own(payload, target))

const textIn = (payload, target) => {
  const value = valueOf(payload, target)
  return value === undefined || value === null ? "" : valueText(value)
}

/**
 * The payload of a corrected row. A value whose text is unchanged is sent as it is: its text may not show it exactly.
 * @param {Record<string, any>} payload @param {string[]} values @param {any[]} columns
 */
export const correctionOf = (payload, values, columns) => {
  const corrected = payloadOf(values, columns)
  columns.forEach(({ target }, index) => {
    if (values[index] === "" || values[index] !== textIn(payload, target)) return
    if (target.startsWith("attribute:")) (corrected.attributes ??= {})[target.slice(10)] = valueOf(payload, target)
    else corrected[target] = valueOf(payload, target)
  })
  return corrected
}

const pathOf = target => target.replace("attribute:", "attributes.")

const ROW = "rows[0].payload." // the paths of the API's faults begin with it

/** The path of a field, of which a fault names one choice. */
const withoutIndex = path => path.replace(/\[\d+\]$/, "")

const typeOf = (target, attribute) => (target === "dob" ? "date" : attribute?.type ?? "text")

const hintOf = (target, attribute) => ({ date: t.dateHint, number: t.numberHint })[typeOf(target, attribute)] ?? attribute?.choices.join(", ")

const Form = ({ job, row, registry, refresh, onDone, onClose }) => {
  const extra = Object.keys(row.payload.attributes).map(key => `attribute:${key}`)
  const targets = [...new Set(["email", ...targetsOf(job.mapping).filter(Boolean), ...extra])]
  const [values, setValues] = useState(() => targets.map(target => textIn(row.payload, target)))
  const saving = useAction()
  useTyped(values, saving.isBusy)
  const types = Object.fromEntries(registry.map(one => [`attribute:${one.key}`, one]))
  const faults = Object.fromEntries(row.fields.map(fault => [fault.path, fault.message]))
  const submit = event => {
    event.preventDefault()
    saving.run(async () => {
      const columns = targets.map(target => ({ target, type: typeOf(target, types[target]), choices: types[target]?.choices ?? [], dates: "any", numbers: "." }))
      const rows = [{ rowNumber: row.row_number, payload: correctionOf(row.payload, values, columns) }]
      try {
        if (job.state === "validated") await post(`/v1/imports/${job.id}/reopen`)
        await callExactly("POST", `/v1/imports/${job.id}/rows`, { body: { rows } })
      } catch (error) {
        // It may be open now. A session that has ended cannot read it.
        if (job.state === "validated" && error.status !== 401) await refresh()
        throw error
      }
      await onDone()
    })
  }
  const paths = targets.map(target => `${ROW}${pathOf(target)}`)
  const errorOf = (target, index) => {
    const found = saving.error?.fields ?? {}
    if (Object.keys(found).length > 0) return faultsAt(saving.error, paths[index])
    return values[index] === textIn(row.payload, target) ? faultsAt({ fields: faults }, pathOf(target)) : ""
  }
  return html`<form onSubmit=${submit}>
    ${row.fields.length === 0 && row.error_message && html`<p class="box error">${row.error_message}</p>`}
    ${SURPLUS in faults && html`<p class="box error">${csv.surplusHint}</p>`}
    <div class="columns">${targets.map((target, index) => html`<${TextField} label=${texts.member.fields[target] ?? types[target]?.label ?? target.slice(10)}
      error=${errorOf(target, index)} hint=${hintOf(target, types[target])} value=${values[index]}
      onInput=${text => setValues(values.map((value, at) => (at === index ? text : value)))} />`)}</div>
    <${ErrorBox} error=${otherFaults(saving.error, path => paths.includes(withoutIndex(path)), path => path.replace(ROW, ""))} />
    <div class="actions"><button class="primary" disabled=${saving.isBusy}>${texts.parts.save}</button>
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div></form>`
}

/** refresh: loads the job again. */
export const CorrectRow = ({ job, row, refresh, onDone, onClose }) => {
  const registry = useLoad(allAttributes, [])
  return html`<${Dialog} isWide=${true} title=${t.correctRow(row.row_number)} onClose=${onClose}><${Loaded} state=${registry}>${attributes => html`
    <${Form} job=${job} row=${row} registry=${attributes} refresh=${refresh} onDone=${onDone} onClose=${onClose} />`}<//><//>`
}
