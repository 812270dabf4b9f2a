// One bulk change of members: the count first, then the confirmation, the progress and the outcome.
import { get } from "../lib/api.js"
import { getExactly } from "../lib/exact.js"
import { formatTime } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { useLoadWhileMoving } from "../lib/load_while_moving.js"
import { allAttributes } from "../lib/registry.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { imports } from "../lib/texts_imports.js"
import { memberJobs as t } from "../lib/texts_members.js"
import { html } from "../lib/view.js"
import { Counts, Progress } from "../imports/parts.js"
import { pairsOf } from "../members/conditions.js"
import { Facts, Loaded, Step, Title } from "../ui/parts.js"
import { CancelButton, CommitButton } from "./dialogs.js"
import { StateBadge } from "./parts.js"

const MOVING = new Set(["validating", "committing"])

/** What the page says until the runner works on the current step. */
export const noteOf = job => (job.heartbeat_at && job.heartbeat_at >= job.phase_started_at ? "" : t.waiting)

const Counting = ({ job }) => html`<div class="box" role="status"><p><strong>${t.states.validating}</strong> ${noteOf(job) || t.counting(job.processed_count)}</p>
  <progress aria-label=${t.states.validating}></progress></div>`

const Decision = ({ job, isAdmin, refresh }) => html`
  <${Counts} pairs=${[[t.changed[job.action], job.preview.changed], ...(job.action === "remove" ? [] : [[t.unchanged[job.action], job.preview.unchanged]])]} />
  ${job.preview.changed === 0 ? html`<p class="box warning">${t.nothing}</p>` : html`<p>${t.decide}</p>`}
  ${isAdmin && html`<div class="actions"><${CommitButton} job=${job} refresh=${refresh} /><${CancelButton} job=${job} refresh=${refresh} /></div>`}`

const Running = ({ job, isAdmin, refresh }) => html`
  ${job.state === "validating" ? html`<${Counting} job=${job} />`
    : html`<${Progress} label=${t.changing} done=${job.processed_count} total=${Math.max(job.processed_count, job.preview.changed + job.preview.unchanged)} note=${noteOf(job)} />`}
  <p>${t.mayLeave}</p>${isAdmin && html`<${CancelButton} job=${job} refresh=${refresh} />`}`

const Outcome = ({ job }) => html`
  ${job.failure && html`<p class="box error" role="alert">${job.failure.message}</p>`}
  <p class="box ${job.state === "completed" ? "good" : ""}" role="status">${t.outcome[job.state](job.action, job.changed_count)}</p>
  ${job.preview && html`<${Counts} pairs=${[[t.done[job.action], job.changed_count],
    ...(job.action === "remove" ? [] : [[t.unchanged[job.action], job.unchanged_count]])]} />`}
  <p><a href=${address(["members"], job.action === "lock" ? { status: "locked" } : {})}>${t.toMembers}</a></p>`

const View = props => {
  if (MOVING.has(props.job.state)) return html`<${Running} ...${props} />`
  return props.job.state === "validated" ? html`<${Decision} ...${props} />` : html`<${Outcome} ...${props} />`
}

/** The names in a filter: the registry, and the file of an import that it names. */
const readNames = async (filter, signal) => {
  const registry = await allAttributes(signal)
  const id = filter.imported_by
  const file = id && await get(`/v1/imports/${id}`, undefined, signal).then(job => job.file_name, () => undefined)
  return { registry, imports: file ? { [id]: file } : {} }
}

const About = ({ job }) => {
  const names = useLoad(signal => readNames(job.filter, signal), [job.id])
  return html`<section class="after"><h2>${t.filter}</h2><${Loaded} state=${names}>${({ registry, imports }) => html`
      <${Facts} pairs=${pairsOf(job.filter, registry, imports)} />`}<//></section>
    <section><h2>${t.about}</h2><${Facts} pairs=${[[t.reason, job.reason ?? undefined], [t.createdBy, job.created_by_email ?? t.program],
      [t.committedBy, job.committed_by_email ?? undefined], [t.begun, formatTime(job.created_at)],
      [t.ended, job.completed_at ? formatTime(job.completed_at) : undefined], [t.deleted, formatTime(job.expires_at)],
      [texts.member.id, html`<code>${job.id}</code>`]]} /></section>`
}

export default ({ id, role }) => {
  const state = useLoadWhileMoving(signal => getExactly(`/v1/member-jobs/${id}`, undefined, signal), job => MOVING.has(job.state), id)
  return html`<p><a href=${address(["member-jobs"])}>${t.back}</a></p>
    <${Loaded} state=${state} title=${texts.screens.memberJob}>${job => html`<${Title} text=${t.names[job.action]} actions=${html`<${StateBadge} state=${job.state} />`} />
      <${Step} title=${t.stepTitles[job.state] ?? t.stepTitles.completed}><${View} job=${job} isAdmin=${role !== "viewer"} refresh=${state.reload} /><//><${About} job=${job} />
      ${state.isAway && html`<p class="box warning low" role="status">${imports.away}</p>`}`}<//>`
}
