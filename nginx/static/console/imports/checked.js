// The result of the dry run: counts, errors by reason, rows to correct, and the decision to import.
import { post } from "../lib/api.js"
import { plural } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { imports as t } from "../lib/texts_imports.js"
import { csv } from "../lib/texts_csv.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Confirm, ErrorBox } from "../ui/parts.js"
import { CancelButton } from "./cancel.js"
import { SURPLUS } from "./convert.js"
import { Counts, fieldName } from "./parts.js"
import { Report } from "./report.js"
import { Rows } from "./rows.js"

const nameOf = (path, labels) => (path === SURPLUS ? csv.surplusField : fieldName(path, labels))

/** The errors of a job by their code: [code, number of rows, names of fields]. */
const byCode = ({ errors, labels }) => Object.entries(Object.groupBy(errors, one => one.error_code)).map(([code, group = []]) => [
  code, group.reduce((sum, one) => sum + one.count, 0), group.map(one => one.field).filter(Boolean).map(path => nameOf(path, labels))])

/** The reasons of invalid rows; a press lists the rows of one. */
const Reasons = ({ job, chosen, choose }) => job.errors.length > 0 && html`<h2>${t.reasons}</h2><ul class="reasons">${byCode(job).map(([code, count, fields]) => html`
  <li><button type="button" aria-pressed=${chosen === code} onClick=${() => choose(chosen === code ? "" : code)}>
    ${plural(count, "row")}: ${t.codes[code] ?? code}${fields.length > 0 && ` (${fields.join(", ")})`}</button></li>`)}</ul>`

const CommitButton = ({ job, refresh }) => {
  const [asks, ask] = useState(false)
  const committing = useAction()
  const commit = () => committing.run(async () => {
    await post(`/v1/imports/${job.id}/commit`)
    await refresh()
  })
  return html`<button type="button" class="primary" disabled=${job.valid_rows === 0} onClick=${() => ask(true)}>
      ${t.commit(plural(job.valid_rows, "row"))}</button>
    ${asks && html`<${Confirm} title=${t.commitTitle} action=${t.commitNow} kind="primary" isBusy=${committing.isBusy} error=${committing.error}
      onConfirm=${commit} onClose=${() => ask(false)}>
      <ul>${t.commitList(job).map(line => html`<li>${line}</li>`)}</ul><p>${t.promise}</p><//>`}`
}

const CheckButton = ({ job, refresh }) => {
  const checking = useAction()
  const check = () => checking.run(async () => {
    await post(`/v1/imports/${job.id}/validate`)
    await refresh()
  })
  return html`<button type="button" class="primary" disabled=${checking.isBusy} onClick=${check}>${t.check}</button><${ErrorBox} error=${checking.error} />`
}

/** isOpen: the job accepts rows. It was reopened, or all rows were uploaded and not checked yet. Its counts come with the next check. */
export const Checked = ({ job, isAdmin, refresh }) => {
  const [code, setCode] = useState("")
  const [isCorrected, setCorrected] = useState(false) // the server took a row since the job was opened here
  const isOpen = job.state === "staging"
  useEffect(() => void (isOpen || setCorrected(false)), [isOpen])
  return html`
    ${isOpen ? html`<p class="box warning">${isCorrected ? t.someCorrected : t.reopened}</p>` : html`<${Counts} pairs=${[[t.inFile, job.staged_rows], [t.valid, job.valid_rows],
      [t.invalid, job.invalid_rows], [t.newMembers, job.preview?.new_members], [t.existing, job.preview?.existing_members]]} />`}
    <div class="actions">
      ${isAdmin && (isOpen ? html`<${CheckButton} job=${job} refresh=${refresh} />` : html`<${CommitButton} job=${job} refresh=${refresh} />`)}
      ${job.invalid_rows > 0 && html`<${Report} job=${job} />`}
      ${isAdmin && html`<${CancelButton} job=${job} onDone=${refresh} />`}
    </div>
    <section class="after">
      ${!isOpen && html`<${Reasons} job=${job} chosen=${code} choose=${setCode} />`}
      <${Rows} job=${job} code=${isOpen ? "" : code} states=${isOpen || job.invalid_rows > 0 ? "invalid" : "valid"} canCorrect=${isAdmin} refresh=${refresh}
        onCorrected=${() => setCorrected(true)} />
    </section>`
}
