// The imports of the last 30 days.
import { get } from "../lib/api.js"
import { formatNumber, formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address } from "../lib/router.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useEffect } from "../lib/view.js"
import { Empty, Loaded, More, Table, Title } from "../ui/parts.js"
import { dropOldPlans } from "./files.js"
import { StateBadge, stateOf } from "./parts.js"

export default ({ role }) => {
  const list = useList((cursor, signal) => get("/v1/imports", { cursor }, signal), "imports", [])
  useEffect(() => void dropOldPlans(), [])
  const start = role !== "viewer" && html`<a class="button primary" href=${address(["imports", "new"])}>${t.start}</a>`
  return html`<${Title} text=${t.title} actions=${start} /><p>${t.hint}</p>
    <${Loaded} state=${list}>${() => list.items.length === 0
      ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${t.columns} numbers=${[2, 3, 4]}>${list.items.map(job => html`<tr key=${job.id}>
          <th scope="row"><a href=${address(["imports", job.id])}>${job.file_name}</a></th>
          <td><${StateBadge} state=${stateOf(job)} /></td><td class="number">${formatNumber(job.staged_rows)}</td>
          <td class="number">${formatNumber(job.created_count + job.attached_count)}</td>
          <td class="number">${formatNumber(job.invalid_rows + job.failed_count)}</td>
          <td>${job.created_by_email ?? t.program}</td><td class="nowrap">${formatTime(job.created_at)}</td></tr>`)}<//>
        <${More} list=${list} />`}<//>`
}
