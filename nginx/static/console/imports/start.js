// A new import: choose a file, assign its columns, start.
import { useCreate } from "../lib/create.js"
import { plural } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useIsHere, useOpen } from "../lib/router.js"
import { useIsShown } from "../lib/shown.js"
import { texts } from "../lib/texts.js"
import { imports as t } from "../lib/texts_imports.js"
import { dropQuestion, useTyped } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { allAttributes } from "../lib/registry.js"
import { ErrorBox, Loaded, Step, Title } from "../ui/parts.js"
import { guessTargets, looksLikeMember, mappingOf, uniqueHeader } from "./columns.js"
import { guessFormats } from "./convert.js"
import { useFileDrop } from "./drop.js"
import { keepPlan } from "./files.js"
import { FormatFields, formatsOf, unsureOf } from "./formats.js"
import { Mapping } from "./mapping.js"
import { FileInput, Steps } from "./parts.js"
import { inspect, readWhole } from "./source.js"

const ROW_LIMIT = 250_000

const FileField = ({ isOver, onFile, error }) => html`<div class="drop ${isOver ? "over" : ""}">
      <p><label for="file"><strong>${t.choose}</strong></label></p>
      <p><${FileInput} id="file" accept=".csv,.tsv,.txt,text/csv" aria-describedby="file-hint" onFile=${onFile} /></p>
      <p class="faint" id="file-hint">${t.fileHint}</p></div>
    <${ErrorBox} error=${error} />`

/** The columns with what their conversion needs: target, type, choices, and the forms of dates and numbers. */
export const columnsOf = (targets, registry, formats) => {
  const found = Object.fromEntries(registry.map(one => [`attribute:${one.key}`, one]))
  return targets.map(target => ({ target, type: target === "dob" ? "date" : found[target]?.type ?? "text", choices: found[target]?.choices ?? [], ...formats }))
}

/** An error of the start. If another import is active, it leads to that one. */
const StartError = ({ error }) => {
  const active = error?.details?.job_id
  return active ? html`<p class="box error" role="alert"><a href=${address(["imports", active])}>${texts.errors.IMPORT_JOB_ACTIVE_EXISTS}</a></p>`
    : html`<${ErrorBox} error=${error} />`
}

const Plan = ({ file, source, attributes, setAttributes, reload, onOther }) => {
  const registry = attributes.filter(one => one.enabled)
  const [targets, setTargets] = useState(() => guessTargets(source.header, registry))
  const typed = columnsOf(targets, registry)
  const guesses = guessFormats(source.samples, typed)
  const [chosen, chooseFormats] = useState(/** @type {Record<string, string>} */ ({}))
  const starting = useAction()
  const create = useCreate()
  const [isCreating, setCreating] = useState(false)
  const isHere = useIsHere()
  const isShown = useIsShown()
  const open = useOpen()
  useTyped([targets, chosen], isCreating)
  const begin = async (plan, total) => {
    setCreating(true)
    dropQuestion() // about leaving: from here on the import may exist
    try {
      const job = await create("/v1/imports", { file_name: file.name.slice(0, 255), declared_total: total, mapping: mappingOf(source.header, targets) })
      await keepPlan(job.id, plan)
      open(["imports", job.id])
    } finally {
      setCreating(false)
    }
  }
  const start = () => starting.run(async () => {
    const plan = { file, encoding: source.encoding, separator: source.separator, columns: columnsOf(targets, registry, formatsOf(guesses, chosen)) }
    const { total, encoding } = await readWhole(file, plan)
    if (total === 0 || total > ROW_LIMIT) throw new Error(total ? t.tooMany(total) : t.noRows)
    if (isHere() && isShown()) await begin({ ...plan, encoding }, total) // otherwise the person left while the file was read
  })
  const hasEmail = targets.includes("email")
  const isReady = hasEmail && unsureOf(guesses, chosen).length === 0
  const shown = [...(typed.some(({ type }) => type === "date") ? ["dates"] : []), ...(guesses.numbers.isSure && !chosen.numbers ? [] : ["numbers"])]
  const ignored = targets.filter(target => !target).length
  return html`<p>${t.fileIs(file.name)} ${ignored > 0 && t.ignoredCount(plural(ignored, "column"))}</p>
    ${looksLikeMember(source.header) && html`<p class="box warning" role="status">${t.noNames}</p>`}
    <${Mapping} source=${source} attributes=${attributes} setAttributes=${setAttributes} reload=${reload} targets=${targets} setTargets=${setTargets} />
    <${FormatFields} guesses=${guesses} shown=${shown} chosen=${chosen} onChange=${chooseFormats} />
    ${!hasEmail && html`<p class="box warning" role="status">${t.needsEmail}</p>`}
    <p>${t.promise}</p>
    <${StartError} error=${starting.error} />
    <div class="actions"><button type="button" class="primary" disabled=${!isReady || starting.isBusy} onClick=${start}>
      ${starting.isBusy ? t.reading : t.upload}</button><button type="button" disabled=${starting.isBusy} onClick=${onOther}>${t.otherFile}</button></div>`
}

export default () => {
  const registry = useLoad(allAttributes, [])
  const [chosen, choose] = useState(null)
  const reading = useAction()
  const take = file => reading.run(async () => {
    const source = await inspect(file)
    if (source.isSpreadsheet) throw new Error(t.spreadsheet)
    if (source.header.length === 0) throw new Error(t.noRows)
    choose({ file, source: { ...source, header: uniqueHeader(source.header) } })
  })
  const isOver = useFileDrop(chosen ? null : take)
  return html`<p><a href=${address(["imports"])}>${t.back}</a></p><${Title} text=${t.start} /><${Steps} current=${chosen ? 1 : 0} />
    <${Step} title=${chosen ? t.stepTitles.columns : t.stepTitles.file}>${!chosen && html`<${FileField} isOver=${isOver} onFile=${take} error=${reading.error} />`}
    ${chosen && html`<${Loaded} state=${registry}>${attributes => html`<${Plan} ...${chosen}
      attributes=${attributes} setAttributes=${registry.set} reload=${registry.reload} onOther=${() => choose(null)} />`}<//>`}<//>`
}
