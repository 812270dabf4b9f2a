// One installation: its settings, credentials and webhook endpoints.
import { announce } from "../lib/announce.js"
import { call, get, getAll, ifMatch } from "../lib/api.js"
import { useConflict } from "../lib/conflict.js"
import { useDialog } from "../lib/dialog.js"
import { formatTime } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { installations as t } from "../lib/texts_modules.js"
import { html } from "../lib/view.js"
import { stateOf } from "../keys/list.js"
import { EndpointSection } from "../webhooks/section.js"
import { ErrorBox, Facts, Loaded, Title } from "../ui/parts.js"
import { HIDDEN, valuesOf } from "./config.js"
import { Credentials } from "./credentials.js"
import { ChangeSettings, Disable } from "./dialogs.js"
import { InstallationBadge, readVersion } from "./parts.js"

const load = async (id, signal) => {
  const path = `/v1/installations/${id}`
  const [{ data: text }, credentials, endpoints] = await Promise.all([
    call("GET", path, { asText: true, signal }), getAll(`${path}/credentials`, "credentials", undefined, signal),
    getAll(`${path}/webhook-endpoints`, "webhook_endpoints", undefined, signal)])
  const record = JSON.parse(text)
  const [module, version] = await Promise.all([
    get(`/v1/modules/${record.module_id}`, undefined, signal), readVersion(record.module_id, record.version_id, signal)])
  return { record, stored: valuesOf(text), module, version, credentials, endpoints }
}

const Values = ({ properties, stored }) => (properties.length === 0 ? html`<p class="faint">${t.noSettings}</p>`
  : html`<${Facts} pairs=${properties.map(({ name, isSecret, type }) => {
    const text = stored[name]?.text
    const shown = type === "boolean" ? { true: t.yes, false: t.no }[text] : text
    return [html`<code>${name}</code>`, isSecret && text === HIDDEN ? html`<span class="faint">${t.stored}</span>` : shown ? html`<span class="kept">${shown}</span>` : null]
  })} />`)

const Notes = ({ module, record, isAdmin, isLoading, ask }) => html`
  ${t.stateHints[record.status] && html`<p class="box warning">${t.stateHints[record.status]}</p>`}
  ${isAdmin && record.version_id !== module.current_version_id && html`<p class="box">${t.newer}${" "}
    <button type="button" class="small" disabled=${isLoading} onClick=${() => ask({ action: "change", version: module.current_version_id })}>${t.move}</button></p>`}`

const Installation = ({ record, stored, module, version, credentials, endpoints, role, isLoading, reload }) => {
  const { dialog, ask, close } = useDialog()
  const enabling = useAction()
  const messages = useConflict(enabling.error, t.enableErrors, record)
  const isAdmin = role !== "viewer"
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  const enable = () => enabling.run(async () => {
    await call("POST", `/v1/installations/${record.id}/enable`, { headers: ifMatch(record) })
    await reload()
    announce(t.enabled)
  })
  const again = () => {
    enabling.clear()
    reload()
  }
  const shared = { module, record, onDone: done, onClose: close, onReload: reload }
  return html`<${Title} text=${module.name} actions=${isAdmin && html`
      ${record.status !== "enabled" && html`<button type="button" class="primary" disabled=${enabling.isBusy || isLoading} onClick=${enable}>${t.enable}</button>`}
      ${record.status !== "disabled" && html`<button type="button" class="danger" disabled=${isLoading} onClick=${() => ask({ action: "disable" })}>${t.disable}</button>`}`} />
    <${ErrorBox} error=${enabling.error} known=${messages} retry=${enabling.error?.status === 412 ? again : undefined}
      retryText=${texts.parts.showCurrent} />
    <${Notes} module=${module} record=${record} isAdmin=${isAdmin} isLoading=${isLoading} ask=${ask} />
    <section><${Facts} pairs=${[[t.state, html`<${InstallationBadge} status=${record.status} />`],
      [t.module, html`<a href=${address(["modules", module.id])}>${module.name}</a>`],
      [t.version, html`<a href=${address(["modules", module.id, "versions", record.version_id])}>${version.name}</a>`],
      [t.installedAt, formatTime(record.installed_at)], [t.by, record.installed_by_email ?? t.formerAdmin], [t.id, html`<code>${record.id}</code>`]]} /></section>
    <section><header class="title"><h2>${t.settings}</h2>${isAdmin && html`
      <button type="button" disabled=${isLoading} onClick=${() => ask({ action: "change" })}>${t.change}</button>`}</header>
      <${Values} properties=${version.properties} stored=${stored} /></section>
    <${Credentials} installation=${record} credentials=${credentials} isAdmin=${isAdmin} reload=${reload} />
    <${EndpointSection} installation=${record} module=${module} emitted=${version.emitted} endpoints=${endpoints} isAdmin=${isAdmin} />
    ${dialog?.action === "change" && html`<${ChangeSettings} ...${shared} stored=${stored} version=${dialog.version} />`}
    ${dialog?.action === "disable" && html`<${Disable} ...${shared} credentials=${credentials.filter(one => stateOf(one) === "active").length}
      endpoints=${endpoints.filter(one => one.status !== "disabled").length} />`}`
}

export default ({ id, role }) => {
  const state = useLoad(signal => load(id, signal), [id])
  return html`<p><a href=${address(["installations"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.installation}>${data => html`
    <${Installation} ...${data} role=${role} isLoading=${state.isLoading} reload=${state.reload} />`}<//>`
}
