// One webhook endpoint: its state, its latest deliveries, and what an admin can do with it.
import { announce } from "../lib/announce.js"
import { call, get, ifMatch } from "../lib/api.js"
import { useConflict } from "../lib/conflict.js"
import { useLoadedDialog } from "../lib/dialog.js"
import { formatNumber, formatTime } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { ErrorBox, Facts, Loaded, Title } from "../ui/parts.js"
import { DeliveryTable } from "./delivery_table.js"
import { Delete, Disable, Pause, Rotate, waitingOf } from "./endpoint_dialogs.js"
import { EditEndpoint, emittedBy } from "./form.js"
import { EndpointBadge, pathOf } from "./parts.js"
import { Recover } from "./recover.js"
import { TestEvent } from "./test_event.js"

const DIALOGS = { edit: EditEndpoint, test: TestEvent, rotate: Rotate, pause: Pause, disable: Disable, delete: Delete, recover: Recover }
/** What a dialog needs before it is shown. @type {Record<string, (endpoint: any) => Promise<any>>} */
const LOADS = { disable: waitingOf, delete: waitingOf }
const LATEST = 10

const load = async (installationId, id, signal) => {
  const path = `/v1/installations/${installationId}`
  const [installation, endpoint, { deliveries }] = await Promise.all([get(path, undefined, signal),
    get(`${path}/webhook-endpoints/${id}`, undefined, signal), get(`${path}/webhook-endpoints/${id}/deliveries`, { limit: LATEST }, signal)])
  const [module, emitted] = await Promise.all([get(`/v1/modules/${installation.module_id}`, undefined, signal), emittedBy(installation, signal).catch(() => [])])
  return { installation, endpoint, deliveries, module, emitted }
}

/** What an admin should know about the state. @returns {string[]} */
export const notesOf = (endpoint, installation) => [
  installation.status === "disabled" && t.notes.off,
  endpoint.status === "disabled" && t.notes[endpoint.disabled_reason ?? "disabled"],
  endpoint.status === "paused" && t.notes.paused,
  endpoint.status === "active" && endpoint.failing_since && t.notes.failingNow(formatTime(endpoint.failing_since)),
  endpoint.backlog_dropped_at && t.notes.dropped(formatTime(endpoint.backlog_dropped_at)),
].filter(Boolean)

const About = ({ endpoint, installation, module }) => html`<${Facts} pairs=${[
  [t.state, html`<${EndpointBadge} endpoint=${endpoint} />`], [t.description, endpoint.description ?? undefined],
  [t.module, html`<a href=${address(["installations", installation.id])}>${module.name}</a>`],
  [t.lastSuccess, endpoint.last_succeeded_at ? formatTime(endpoint.last_succeeded_at) : t.never],
  [t.failingSince, endpoint.failing_since ? formatTime(endpoint.failing_since) : undefined],
  [t.events, html`<span class="words">${endpoint.subscribed_event_types.map(type => html`<code>${type}</code>`)}</span>`],
  [t.created, formatTime(endpoint.created_at)], [t.id, html`<code>${endpoint.id}</code>`]]} />`

const Counts = ({ results }) => html`<section><h2>${t.counts}</h2><dl class="counts">${[
  [t.delivered, results.succeeded], [t.failed, results.failed], [t.failedAttempts, results.failed_attempts],
].map(([name, count]) => html`<div><dt>${name}</dt><dd>${formatNumber(count)}</dd></div>`)}</dl></section>`

const Recent = ({ endpoint, deliveries, isAdmin, canSend, isLoading, ask }) => html`<section><header class="title"><h2>${t.recent}</h2>
    <div class="actions">${isAdmin && canSend && html`<button type="button" disabled=${isLoading} onClick=${() => ask("recover")}>${t.recover}</button>`}
      ${deliveries.length > 0 && html`<a class="button" href=${address(["webhooks", "deliveries"],
        { installation: endpoint.module_installation_id, endpoint: endpoint.id })}>${t.allDeliveries}</a>`}</div></header>
  ${deliveries.length === 0 ? html`<p class="faint">${t.noDeliveries} ${isAdmin && canSend && t.tryIt}</p>` : html`<${DeliveryTable} deliveries=${deliveries} caption=${t.recent} />`}
  ${isAdmin && endpoint.status !== "active" && html`<p class="faint">${t.recoverNeedsActive}</p>`}</section>`

const Manage = ({ endpoint, isLoading, ask }) => {
  const actions = [["rotate", t.rotate, t.rotateAbout], ...(endpoint.status === "active" ? [["pause", t.pause, t.pauseAbout]] : []),
    ...(endpoint.status === "disabled" ? [] : [["disable", t.disable, t.disableAbout]]), ["delete", t.delete, t.deleteAbout]]
  return html`<section><h2>${t.more}</h2><ul class="deeds">${actions.map(([name, text, about]) => html`<li><p>${about}</p>
    <button type="button" class=${name === "disable" || name === "delete" ? "danger" : ""} disabled=${isLoading} onClick=${() => ask(name)}>${text}</button></li>`)}</ul></section>`
}

const Endpoint = ({ endpoint, installation, module, emitted, deliveries, role, isLoading, reload }) => {
  const { dialog, ask: show, askWith, opening, close } = useLoadedDialog()
  const ask = action => (LOADS[action] ? askWith({ action }, () => LOADS[action](endpoint)) : show({ action }))
  const activating = useAction()
  const messages = useConflict(activating.error, {}, endpoint)
  const isAdmin = role !== "viewer"
  const canSend = endpoint.status === "active" && installation.status !== "disabled"
  const open = useOpen()
  const done = async () => {
    await reload()
    close()
  }
  const leave = () => {
    close()
    reload()
  }
  const activate = () => activating.run(async () => {
    await call("PATCH", pathOf(endpoint), { body: { status: "active" }, headers: ifMatch(endpoint) })
    await reload()
    announce(t.activated)
  })
  const again = () => {
    activating.clear()
    reload()
  }
  const Asked = DIALOGS[dialog?.action]
  return html`<${Title} text=${endpoint.url} actions=${isAdmin && html`<button type="button" disabled=${isLoading} onClick=${() => ask("edit")}>${t.edit}</button>
      ${endpoint.status !== "active" && html`<button type="button" class="primary" disabled=${activating.isBusy || isLoading} onClick=${activate}>${t.activate}</button>`}
      ${canSend && html`<button type="button" class="primary" onClick=${() => ask("test")}>${t.test}</button>`}`} />
    <${ErrorBox} error=${activating.error} known=${messages} retry=${activating.error?.status === 412 ? again : undefined} retryText=${texts.parts.showCurrent} />
    ${notesOf(endpoint, installation).map(text => html`<p class="box warning">${text}</p>`)}
    <section><${About} endpoint=${endpoint} installation=${installation} module=${module} /></section><${Counts} results=${endpoint.last_24_hours} />
    <${Recent} endpoint=${endpoint} deliveries=${deliveries} isAdmin=${isAdmin} canSend=${canSend} isLoading=${isLoading} ask=${ask} />
    ${isAdmin && html`<${Manage} endpoint=${endpoint} isLoading=${isLoading || opening.isBusy} ask=${ask} /><${ErrorBox} error=${opening.error} />`}
    ${Asked && html`<${Asked} endpoint=${endpoint} installation=${installation} module=${module} emitted=${emitted} data=${dialog?.data} onDone=${done} onReload=${reload} onLeave=${leave}
      onDeleted=${() => open(["webhooks"])} onClose=${dialog?.action === "test" ? leave : close} />`}`
}

export default ({ installation, id, role }) => {
  const state = useLoad(signal => load(installation, id, signal), [id])
  return html`<p><a href=${address(["webhooks"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.endpoint}>${data => html`
    <${Endpoint} key=${data.endpoint.id} ...${data} role=${role} isLoading=${state.isLoading || state.error !== null} reload=${state.reload} />`}<//>`
}
