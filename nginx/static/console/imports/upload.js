// The upload of a file: its progress, and its continuation after a reload or on another computer.
import { get, post } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { imports as t } from "../lib/texts_imports.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { html, useEffect, useState } from "../lib/view.js"
import { ErrorBox } from "../ui/parts.js"
import { CancelButton } from "./cancel.js"
import { targetsOf, uniqueHeader } from "./columns.js"
import { guessFormats } from "./convert.js"
import { CsvFault } from "./csv.js"
import { useFileDrop } from "./drop.js"
import { keepPlan } from "./files.js"
import { FormatFields, formatsOf, unsureOf } from "./formats.js"
import { FileInput, Progress } from "./parts.js"
import { inspect, readWhole } from "./source.js"
import { RowTooLarge, upload } from "./staging.js"
import { columnsOf } from "./start.js"

export const Upload = ({ job, plan, refresh }) => {
  const [done, setDone] = useState(job.staged_rows)
  const [isPaused, setPaused] = useState(false)
  const [error, showError] = useState(null)
  const [turn, again] = useState(0)
  const { state: access } = useStore(session)
  useEffect(() => {
    if (access !== "in") return undefined // it continues after the next sign-in
    let isStopped = false
    const work = async () => {
      const { staged_rows: staged } = await get(`/v1/imports/${job.id}`)
      await upload(job.id, plan, { done: staged, onProgress: setDone, onPause: setPaused, isStopped: () => isStopped })
      if (isStopped) return
      await post(`/v1/imports/${job.id}/validate`)
      refresh()
    }
    showError(null)
    const fail = failed => (failed.code === "IMPORT_JOB_INVALID_STATE" ? refresh() : showError(failed)) // another tab was faster
    work().catch(failed => isStopped || fail(failed))
    return () => void (isStopped = true)
  }, [job.id, turn, access])
  return html`<${Progress} label=${t.uploading} done=${done} total=${job.declared_total} note=${isPaused ? t.paused : ""} />
    <div class="actions first"><${CancelButton} job=${job} onDone=${refresh} /></div>
    ${error ? html`<${ErrorBox} error=${error} retry=${[RowTooLarge, CsvFault].some(kind => error instanceof kind) ? undefined : () => again(turn + 1)} />` : html`<p>${t.mayReload}</p>`}`
}

/** An upload that this browser does not know: it asks for the same file, and for the forms of dates and numbers that it does not show. */
export const Staged = ({ job, refresh, onPlan }) => {
  const reading = useAction()
  const [unsure, ask] = useState(null) // { plan, guesses, chosen }
  const keep = async (plan, guesses, chosen = {}) => {
    if (unsureOf(guesses, chosen).length > 0) return ask({ plan, guesses, chosen })
    await keepPlan(job.id, { ...plan, columns: plan.columns.map(one => ({ ...one, ...formatsOf(guesses, chosen) })) })
    onPlan()
  }
  const take = file => reading.run(async () => {
    const source = await inspect(file)
    const expected = job.mapping.columns.map(column => column.sourceColumn)
    if (JSON.stringify(uniqueHeader(source.header)) !== JSON.stringify(expected)) throw new Error(t.otherColumns)
    const columns = columnsOf(targetsOf(job.mapping), await allAttributes())
    const { total, encoding } = await readWhole(file, source)
    if (total !== job.declared_total) throw new Error(t.otherRows(total, job.declared_total))
    await keep({ file, encoding, separator: source.separator, columns }, guessFormats(source.samples, columns))
  })
  useFileDrop(take)
  return html`<p class="box warning">${t.unfinished(job.staged_rows, job.declared_total)}</p>
    <p><label for="again">${t.sameFile(job.file_name)}</label></p>
    <p><${FileInput} id="again" onFile=${take} /></p>
    ${unsure && html`<${FormatFields} guesses=${unsure.guesses} shown=${unsureOf(unsure.guesses)} chosen=${unsure.chosen}
      onChange=${chosen => reading.run(() => keep(unsure.plan, unsure.guesses, chosen))} />`}
    <div class="actions first"><${CancelButton} job=${job} onDone=${refresh} /></div><${ErrorBox} error=${reading.error} />`
}
