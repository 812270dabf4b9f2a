// The bulk changes of the last 30 days.
import { getExactly } from "../lib/exact.js"
import { formatNumber, formatTime } from "../lib/format.js"
import { useList, useLoad } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { address } from "../lib/router.js"
import { memberJobs as t } from "../lib/texts_members.js"
import { html } from "../lib/view.js"
import { summaryOf } from "../members/conditions.js"
import { Empty, Loaded, More, Table, Title } from "../ui/parts.js"
import { StateBadge } from "./parts.js"

const Row = ({ job, registry }) => html`<tr>
  <th scope="row"><a href=${address(["member-jobs", job.id])}>${t.names[job.action]}</a></th>
  <td><${StateBadge} state=${job.state} /></td><td class="number">${formatNumber(job.changed_count)}</td>
  <td>${summaryOf(job.filter, registry)}</td><td>${job.created_by_email ?? t.program}</td><td class="nowrap">${formatTime(job.created_at)}</td></tr>`

export default () => {
  const list = useList((cursor, signal) => getExactly("/v1/member-jobs", { cursor }, signal), "member_jobs", [])
  const registry = useLoad(allAttributes, [])
  return html`<${Title} text=${t.title} /><p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><p><a class="button" href=${address(["members"])}>${t.toMembers}</a></p><//>`
      : html`<${Table} caption=${t.title} columns=${t.columns} numbers=${[2]}>${list.items.map(job => html`
          <${Row} key=${job.id} job=${job} registry=${registry.data ?? []} />`)}<//><${More} list=${list} />`}<//>`
}
