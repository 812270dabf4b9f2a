// The bulk changes of the last 30 days.
import { getExactly } from "../lib/exact.js"
import { formatNumber, formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { labelsIf } from "../lib/registry.js"
import { address } from "../lib/router.js"
import { memberJobs as t } from "../lib/texts_members.js"
import { html } from "../lib/view.js"
import { summaryOf } from "../members/conditions.js"
import { Empty, Loaded, More, Table, Title } from "../ui/parts.js"
import { StateBadge } from "./parts.js"

/** A page of jobs whose filters are in one line, so that labels of attributes do not come later. @returns {Promise<any>} */
const pageOf = async (cursor, signal) => {
  const page = await getExactly("/v1/member-jobs", { cursor }, signal)
  const labels = await labelsIf(page.member_jobs.some(job => job.filter.attributes), signal)
  const registry = Object.entries(labels).map(([key, label]) => ({ key, label }))
  return { ...page, member_jobs: page.member_jobs.map(job => ({ ...job, summary: summaryOf(job.filter, registry) })) }
}

const Row = ({ job }) => html`<tr>
  <th scope="row"><a href=${address(["member-jobs", job.id])}>${t.names[job.action]}</a></th>
  <td><${StateBadge} state=${job.state} /></td><td class="number">${formatNumber(job.changed_count)}</td>
  <td>${job.summary}</td><td>${job.created_by_email ?? t.program}</td><td class="nowrap">${formatTime(job.created_at)}</td></tr>`

export default () => {
  const list = useList(pageOf, "member_jobs", [])
  return html`<${Title} text=${t.title} /><p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><p><a class="button" href=${address(["members"])}>${t.toMembers}</a></p><//>`
      : html`<${Table} caption=${t.title} columns=${t.columns} numbers=${[2]}>${list.items.map(job => html`
          <${Row} key=${job.id} job=${job} />`)}<//><${More} list=${list} />`}<//>`
}
