// What an import did: counts, the report, the rows, and the undo.
import { post } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { address } from "../lib/router.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useState } from "../lib/view.js"
import { Confirm, ErrorBox } from "../ui/parts.js"
import { Counts } from "./parts.js"
import { Report } from "./report.js"
import { Rows } from "./rows.js"

const UndoButton = ({ job, refresh }) => {
  const [preview, show] = useState(null)
  const asking = useAction()
  const undoing = useAction()
  const ask = () => asking.run(async () => show((await post(`/v1/imports/${job.id}/undo`, { dry_run: true })).undo))
  const undo = () => undoing.run(async () => {
    await post(`/v1/imports/${job.id}/undo`)
    await refresh()
  })
  return html`<button type="button" class="danger" disabled=${asking.isBusy} onClick=${ask}>${t.undo}</button>
    <${ErrorBox} error=${asking.error} />
    ${preview && html`<${Confirm} title=${t.undoTitle} action=${t.undoNow} isBusy=${undoing.isBusy} error=${undoing.error}
      onConfirm=${undo} onClose=${() => show(null)}>
      <p>${preview.is_estimate ? t.undoEstimate : t.undoExact}</p><ul>${t.undoList(preview).map(line => html`<li>${line}</li>`)}</ul><//>`}`
}

export const Outcome = ({ job, isAdmin, refresh }) => {
  const canUndo = isAdmin && (job.state === "completed" || job.state === "failed")
  const problems = job.invalid_rows + job.failed_count
  return html`
    ${job.failure && html`<p class="box error" role="alert">${job.failure.message}</p>`}
    ${t.outcome[job.state] && html`<p class="box ${job.state === "completed" ? "good" : ""}" role="status">${t.outcome[job.state]}</p>`}
    <${Counts} pairs=${[[t.inFile, job.staged_rows], [t.created, job.created_count], [t.attached, job.attached_count],
      [t.invalid, job.invalid_rows], [t.failedRows, job.failed_count]]} />
    ${job.created_count + job.attached_count > 0 && html`<p class="hint">${t.countsHint}</p>`}
    ${job.undo && html`<h2>${t.undone}</h2><${Counts} pairs=${[[t.removed, job.undo.removed + job.undo.detached],
      [t.emptied, job.undo.emptied], [t.kept, job.undo.kept]]} />`}
    <div class="actions">${(problems > 0 || job.undo?.kept > 0) && html`<${Report} job=${job} />`}${job.created_count + job.attached_count > 0 && html`
      <a class="button" href=${address(["members"], { import: job.id })}>${t.showMembers}</a>`}${canUndo && html`<${UndoButton} job=${job} refresh=${refresh} />`}</div>
    ${job.state !== "canceled" && html`<section class="after"><${Rows} job=${job} states=${problems > 0 ? "invalid,failed" : ""} /></section>`}`
}
