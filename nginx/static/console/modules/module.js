// One module: its versions, installing it, and deprecating it.
import { announce } from "../lib/announce.js"
import { get, getAll, post } from "../lib/api.js"
import { useDialog } from "../lib/dialog.js"
import { formatTime } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { modules as t } from "../lib/texts_modules.js"
import { html } from "../lib/view.js"
import { Install } from "../installations/install.js"
import { Confirm, Empty, Facts, Loaded, Table, Title } from "../ui/parts.js"
import { ModuleBadge, VersionBadge, eventPrefixOf, installedIn } from "./parts.js"

const load = async (id, signal) => {
  const [module, versions, installations] = await Promise.all([
    get(`/v1/modules/${id}`, undefined, signal), getAll(`/v1/modules/${id}/versions`, "versions", undefined, signal),
    getAll("/v1/installations", "installations", undefined, signal)])
  return { module, versions: versions.reverse(), installation: installedIn(installations)[id] }
}

const Deprecate = ({ module, installation, onDone, onClose }) => {
  const running = useAction()
  const deprecate = () => running.run(async () => {
    await post(`/v1/modules/${module.id}/deprecate`)
    await onDone(t.deprecated(module.name))
  })
  return html`<${Confirm} title=${t.deprecateTitle(module.name)} action=${t.deprecate} isBusy=${running.isBusy} error=${running.error}
    onConfirm=${deprecate} onClose=${onClose}><p>${t.deprecateHint} ${t.deprecateKept(installation)}</p><//>`
}

const Versions = ({ module, versions }) => html`<${Table} caption=${t.versions} columns=${t.versionColumns}>${versions.map(one => html`<tr key=${one.id}>
  <th scope="row"><a href=${address(["modules", module.id, "versions", one.id])}>${one.version}</a>
    ${one.id === module.current_version_id && html` <span class="faint">(${t.current})</span>`}</th>
  <td><${VersionBadge} status=${one.status} /></td><td class="nowrap">${formatTime(one.published_at)}</td>
  <td class="nowrap">${formatTime(one.created_at)}</td></tr>`)}<//>`

const Actions = ({ module, installation, isAdmin, ask }) => html`
  ${installation && html`<a class="button" href=${address(["installations", installation.id])}>${t.openInstallation}</a>`}
  ${isAdmin && module.status === "published" && html`
    <button type="button" class="danger" onClick=${() => ask({ action: "deprecate" })}>${t.deprecate}</button>
    ${!installation && html`<button type="button" class="primary" onClick=${() => ask({ action: "install" })}>${t.install}</button>`}`}`

const Module = ({ module, versions, installation, role, reload }) => {
  const { dialog, ask, close } = useDialog()
  const isAdmin = role !== "viewer"
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  const create = isAdmin && module.status !== "deprecated" && html`
    <a class=${`button ${versions.length ? "" : "primary"}`} href=${address(["modules", module.id, "versions", "new"])}>${t.newVersion}</a>`
  return html`<${Title} text=${module.name} actions=${html`<${Actions} module=${module} installation=${installation} isAdmin=${isAdmin} ask=${ask} />`} />
    ${t.stateHints[module.status] && html`<p>${t.stateHints[module.status]}</p>`}
    ${installation && installation.version_id !== module.current_version_id && html`<p class="box">${t.otherVersionInstalled}</p>`}
    <section><${Facts} pairs=${[[t.state, html`<${ModuleBadge} status=${module.status} />`], [t.slug, html`<code>${module.slug}</code>`],
      [t.eventPrefix, html`<code>${eventPrefixOf(module.slug)}</code>`], [t.vendor, module.vendor], [t.createdAt, formatTime(module.created_at)]]} /></section>
    <section><header class="title"><h2>${t.versions}</h2>${versions.length > 0 && create}</header>${versions.length === 0
      ? html`<${Empty} title=${t.noVersions}><p>${t.noVersionsHint}</p>${create}<//>`
      : html`<${Versions} module=${module} versions=${versions} />`}</section>
    ${dialog?.action === "deprecate" && html`<${Deprecate} module=${module} installation=${installation} onDone=${done} onClose=${close} />`}
    ${dialog?.action === "install" && html`<${Install} module=${module} onClose=${close} />`}`
}

export default ({ id, role }) => {
  const state = useLoad(signal => load(id, signal), [id])
  return html`<p><a href=${address(["modules"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.module}>${data => html`
    <${Module} ...${data} role=${role} reload=${state.reload} />`}<//>`
}
