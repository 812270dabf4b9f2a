// The installed modules.
import { getAll } from "../lib/api.js"
import { formatTime } from "../lib/format.js"
import { useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { installations as t } from "../lib/texts_modules.js"
import { html, useState } from "../lib/view.js"
import { installedIn } from "../modules/parts.js"
import { Empty, Loaded, Table, Title } from "../ui/parts.js"
import { Install } from "./install.js"
import { InstallationBadge } from "./parts.js"

const load = async signal => {
  const [modules, installations] = await Promise.all([
    getAll("/v1/modules", "modules", undefined, signal), getAll("/v1/installations", "installations", undefined, signal)])
  const installed = installedIn(installations)
  return {
    installations, byId: Object.fromEntries(modules.map(one => [one.id, one])), hasModules: modules.some(one => one.status === "published"),
    installable: modules.filter(one => one.status === "published" && !installed[one.id]),
  }
}

const Row = ({ record, module }) => html`<tr>
  <th scope="row"><a href=${address(["installations", record.id])}>${module?.name ?? record.module_id}</a></th><td><${InstallationBadge} status=${record.status} /></td>
  <td>${record.version_id === module?.current_version_id ? t.currentVersion : t.otherVersion}</td>
  <td class="nowrap">${formatTime(record.installed_at)}</td><td>${record.installed_by_email ?? t.formerAdmin}</td></tr>`

const Nothing = ({ hasModules, isAdmin }) => html`<${Empty} title=${t.none}>
  <p>${!isAdmin ? texts.dialogs.askAdmin : hasModules ? t.noneHint : t.noModules}</p>
  ${isAdmin && !hasModules && html`<p><a class="button" href=${address(["modules"])}>${t.toModules}</a></p>`}<//>`

export default ({ role }) => {
  const state = useLoad(load, [])
  const [isOpen, show] = useState(false)
  const isAdmin = role !== "viewer"
  const installable = state.data?.installable ?? []
  const canInstall = isAdmin && installable.length > 0
  return html`<${Title} text=${t.title} actions=${canInstall && html`
      <button type="button" class="primary" onClick=${() => show(true)}>${t.install}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${state}>${data => (data.installations.length === 0
      ? html`<${Nothing} hasModules=${data.hasModules} isAdmin=${isAdmin} />`
      : html`<${Table} caption=${t.title} columns=${t.columns}>${data.installations.map(record => html`
          <${Row} key=${record.id} record=${record} module=${data.byId[record.module_id]} />`)}<//>`)}<//>
    ${isOpen && html`<${Install} modules=${installable} onClose=${() => show(false)} />`}`
}
