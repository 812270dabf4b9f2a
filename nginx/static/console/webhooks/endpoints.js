// The webhook endpoints of all installed modules.
import { announce } from "../lib/announce.js"
import { getAll } from "../lib/api.js"
import { useLoadedDialog } from "../lib/dialog.js"
import { useList } from "../lib/load.js"
import { address, replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { Empty, Loaded, More, SelectField, Title } from "../ui/parts.js"
import { AddEndpoint, emittedBy } from "./form.js"
import { EndpointTable, Tabs, endpointsOf, stateOf } from "./parts.js"
import { useOpenEndpoint } from "./section.js"
import { SetUp } from "./set_up.js"

const INSTALLATIONS = 25 // on a page, because the API lists the endpoints of each installation on its own

/** The installations of a page. cursor: the number of installations before them. @param {string | null} cursor @param {number} count of all */
export const pageOf = (cursor, count) => {
  const begin = Number(cursor)
  const end = begin + INSTALLATIONS
  return { begin, end, next: end < count ? String(end) : null }
}

/** Endpoints of some installations, and all installations with their `module`. */
const fetchPage = async (cursor, signal) => {
  const [modules, all] = await Promise.all([
    getAll("/v1/modules", "modules", undefined, signal), getAll("/v1/installations", "installations", undefined, signal)])
  const { begin, end, next } = pageOf(cursor, all.length)
  const byId = Object.fromEntries(modules.map(one => [one.id, one]))
  const installations = all.map(one => ({ ...one, module: byId[one.module_id] }))
  const lists = await Promise.all(installations.slice(begin, end).map(async installation =>
    (await endpointsOf(installation, signal)).map(endpoint => ({ ...endpoint, installation }))))
  return { installations, hasModules: modules.length > 0, endpoints: lists.flat(), next_cursor: next }
}

/** Without an installation, there are two ways to one: a new module, or a module that the organization has. */
const Nothing = ({ choices, hasModules, isAdmin, onSetUp }) => html`<${Empty} title=${t.none}>
  <p>${!isAdmin ? texts.dialogs.askAdmin : choices.length ? t.noneHint : t.notInstalled}</p>
  ${isAdmin && choices.length === 0 && html`<p><button type="button" class=${hasModules ? "" : "primary"} onClick=${onSetUp}>${t.setUp}</button>${" "}
    ${hasModules && html`<a class="button primary" href=${address(["installations"])}>${t.installFirst}</a>`}</p>`}<//>`

const List = ({ list, state }) => {
  const shown = list.items.filter(one => !state || stateOf(one) === state)
  return html`<form class="filters" onSubmit=${event => event.preventDefault()}>
      <${SelectField} label=${t.stateFilter} value=${state ?? ""} options=${t.stateOptions} onChange=${chosen => replaceQuery({ state: chosen })} /></form>
    ${shown.length > 0 ? html`<${EndpointTable} endpoints=${shown} moduleOf=${one => one.installation.module?.name ?? "–"} isOff=${one => one.installation.status === "disabled"} />`
      : list.hasMore ? html`<p class="faint">${t.searching}</p>` : html`<${Empty} title=${t.noMatch} />`}
    <${More} list=${list} />`
}

export default ({ role }) => {
  const { query } = useStore(route)
  const list = useList(fetchPage, "endpoints", [])
  const { dialog, ask, askWith, opening, close } = useLoadedDialog()
  const openEndpoint = useOpenEndpoint()
  const isAdmin = role !== "viewer"
  const choices = (list.data?.installations ?? []).filter(one => one.status !== "disabled")
  const add = () => askWith({ action: "add" }, () => emittedBy(choices[0]).catch(() => []))
  const installed = async ({ module }) => {
    await list.reload()
    ask({ action: "add", data: [] }) // the module's first version reports nothing
    announce(t.setUpDone(module.name))
  }
  return html`<${Title} text=${t.title} actions=${isAdmin && choices.length > 0 && html`
      <button type="button" class="primary" disabled=${opening.isBusy} onClick=${add}>${t.add}</button>`} />
    <${Tabs} current=${t.tabEndpoints} /><p>${t.hint}</p>
    <${Loaded} state=${list}>${({ hasModules }) => (list.items.length === 0 && !list.hasMore
      ? html`<${Nothing} choices=${choices} hasModules=${hasModules} isAdmin=${isAdmin} onSetUp=${() => ask({ action: "set up" })} />` : html`<${List} list=${list} state=${query.state} />`)}<//>
    ${dialog?.action === "add" && choices.length > 0 && html`<${AddEndpoint} choices=${choices} emitted=${dialog.data} onDone=${openEndpoint} onClose=${close} />`}
    ${dialog?.action === "set up" && html`<${SetUp} onDone=${installed} onClose=${close} />`}`
}
