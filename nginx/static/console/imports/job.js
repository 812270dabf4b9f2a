// One import, from the upload to the undo. The state is always the server's: a reload, another browser or another admin
// sees the same.
import { get } from "../lib/api.js"
import { useLoadWhileMoving } from "../lib/load_while_moving.js"
import { labelsIf } from "../lib/registry.js"
import { address } from "../lib/router.js"
import { serverNow } from "../lib/session_end.js"
import { texts } from "../lib/texts.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Facts, Loaded, Step, Title } from "../ui/parts.js"
import { formatDuration, formatTime } from "../lib/format.js"
import { Outcome } from "./outcome.js"
import { Progress, StateBadge, Steps, nameAttributes, stateOf } from "./parts.js"
import { forgetPlan, planOf } from "./files.js"
import { Staged, Upload } from "./upload.js"
import { Checked } from "./checked.js"

const STEP_OF = { staging: 2, validating: 2, validated: 3, committing: 4, completed: 4, failed: 4, canceled: 4, undoing: 4, undone: 4 }
const MOVING = new Set(["validating", "committing", "undoing"])

/** The time that the rest of a step takes, by its speed so far; "" before that is known. */
export const restOf = (job, now = serverNow()) => {
  const seconds = (now - new Date(job.phase_started_at).getTime()) / 1000
  if (job.queue_position > 0) return t.queued(job.queue_position)
  if (job.processed_rows === 0 || seconds < 2) return ""
  const rate = job.processed_rows / seconds
  return t.rest(Math.round(rate), formatDuration((job.staged_rows - job.processed_rows) / rate))
}

const Moving = ({ job }) => html`<${Progress} label=${t.moving[job.state]} done=${job.processed_rows} total=${job.staged_rows} note=${restOf(job)} />
  <p>${t.mayLeave}</p>`

/** What a job shows that accepts rows. Not a component: reopening a job keeps its table of rows. */
const stagingView = ({ job, isAdmin, plan, refresh, readPlan }) => {
  const isComplete = job.staged_rows >= job.declared_total && plan === null
  const isReopened = stateOf(job) === "reopened"
  if (!isAdmin) return html`<p>${isReopened ? t.correctedByOther : t.stagingByOther}</p>`
  if (isReopened || isComplete) return html`<${Checked} job=${job} isAdmin=${true} refresh=${refresh} />`
  return plan ? html`<${Upload} job=${job} plan=${plan} refresh=${refresh} />` : html`<${Staged} job=${job} refresh=${refresh} onPlan=${readPlan} />`
}

const View = ({ job, role, plan, refresh, readPlan }) => {
  const isAdmin = role !== "viewer"
  if (MOVING.has(job.state)) return html`<${Moving} job=${job} />`
  if (job.state === "validated") return html`<${Checked} job=${job} isAdmin=${isAdmin} refresh=${refresh} />`
  if (job.state !== "staging") return html`<${Outcome} job=${job} isAdmin=${isAdmin} refresh=${refresh} />`
  return plan === undefined ? null : stagingView({ job, isAdmin, plan, refresh, readPlan })
}

/** The plan of an upload that this browser keeps: undefined until it was read, null without one. Deletes it when the job takes
 * no more rows, also after a cancel, a reload or the work of another tab. `state`: of stateOf; undefined until it is known. */
const usePlan = (id, state) => {
  const [plan, show] = useState(undefined)
  const [turn, again] = useState(0)
  useEffect(() => {
    let isCurrent = true
    const isNeeded = state === undefined || state === "staging"
    const reading = isNeeded ? planOf(id) : forgetPlan(id).then(() => null)
    reading.then(found => isCurrent && show(found))
    return () => void (isCurrent = false)
  }, [id, state, turn])
  return [plan, () => again(now => now + 1)]
}

/** A job with the labels of the attributes that its errors name, if it shows them. */
const jobOf = async (id, signal) => {
  const job = await get(`/v1/imports/${id}`, undefined, signal)
  return { ...job, labels: await labelsIf(job.state === "validated" && nameAttributes(job.errors.map(one => one.field)), signal) }
}

export default ({ id, role }) => {
  const state = useLoadWhileMoving(signal => jobOf(id, signal), found => MOVING.has(found.state), id)
  const job = state.data
  const [plan, readPlan] = usePlan(id, job ? stateOf(job) : undefined)
  return html`<p><a href=${address(["imports"])}>${t.back}</a></p>
    <${Loaded} state=${state} title=${texts.screens.import}>${() => job && html`<${Title} text=${job.file_name} actions=${html`<${StateBadge} state=${stateOf(job)} />`} />
      ${STEP_OF[job.state] < 4 || job.state === "committing" ? html`<${Steps} current=${STEP_OF[job.state]} />` : null}
      <${Step} title=${t.stepTitles[stateOf(job)]}><${View} job=${job} role=${role} plan=${plan} refresh=${state.reload} readPlan=${readPlan} /><//>
      <section class="after"><h2>${t.about}</h2><${Facts} pairs=${[[t.by, job.created_by_email ?? t.program], [t.begun, formatTime(job.created_at)],
        [t.deleted, formatTime(job.expires_at)], [texts.member.id, html`<code>${job.id}</code>`]]} /></section>
      ${state.isAway && html`<p class="box warning low" role="status">${t.away}</p>`}`}<//>`
}
