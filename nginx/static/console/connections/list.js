// Connections to third-party providers: their state, connecting, refreshing, deleting.
import { call, get } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { useDialog } from "../lib/dialog.js"
import { useAction, useLoad } from "../lib/load.js"
import { replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { connections as t } from "../lib/texts_connections.js"
import { html } from "../lib/view.js"
import { Badge, Confirm, Empty, ErrorBox, Loaded, SelectField, Table, Title } from "../ui/parts.js"
import { Connect, useFollow } from "./connect.js"

/** @type {Record<string, string>} */
const KINDS = { connected: "good", pending: "warn", error: "bad" }

/** 202: the runner asks the provider later. @param {number} status @param {Api.Connection} connection */
const refreshText = (status, connection) => {
  if (status === 202) return t.refreshing
  return connection.authStatus === "connected" && connection.error === null ? t.refreshed : t.notRefreshed
}

/** @param {Record<"isAdmin" | "isReady", boolean> & { onDelete: () => void, onChange: () => Promise<void> } & { connection: Api.Connection, name: string }} props */
const Row = ({ connection, name, isAdmin, isReady, onDelete, onChange }) => {
  const working = useAction()
  const follow = useFollow()
  const refresh = () => working.run(async () => {
    const { status, data } = await call("POST", `/v1/external-data/connections/${connection.id}/refresh`)
    await onChange()
    announce(refreshText(status, data))
  })
  const again = () => working.run(() => follow({ provider: connection.connector, connection_id: connection.id }))
  const canRefresh = connection.authStatus === "connected"
  return html`<tr><th scope="row">${connection.name}</th><td>${name}</td>
    <td><${Badge} kind=${KINDS[connection.authStatus] ?? "plain"}>${t.states[connection.authStatus] ?? connection.authStatus}<//></td>
    <td>${connection.error ?? "–"}<${ErrorBox} error=${working.error} /></td>
    ${isAdmin && html`<td><div class="actions">
      ${isReady && (canRefresh
        ? html`<button type="button" class="small" aria-label=${`${t.refresh}: ${connection.name}`} disabled=${working.isBusy} onClick=${refresh}>${t.refresh}</button>`
        : html`<button type="button" class="small" aria-label=${`${t.again}: ${connection.name}`} disabled=${working.isBusy} onClick=${again}>${t.again}</button>`)}
      <button type="button" class="small danger" aria-label=${`${t.delete}: ${connection.name}`} onClick=${onDelete}>${t.delete}</button></div></td>`}</tr>`
}

const DeleteDialog = ({ connection, onDone, onClose }) => {
  const deleting = useAction()
  const confirm = () => deleting.run(async () => {
    await call("DELETE", `/v1/external-data/connections/${connection.id}`)
    await onDone()
  })
  return html`<${Confirm} title=${t.deleteTitle(connection.name)} action=${t.delete} isBusy=${deleting.isBusy} error=${deleting.error}
    onConfirm=${confirm} onClose=${onClose}><p>${t.deleteHint}</p><//>`
}

const Connections = ({ catalog, connections, isAdmin, reload }) => {
  const { dialog, ask, close } = useDialog()
  const providers = Object.fromEntries(catalog.map(one => [one.provider, one]))
  const done = async () => {
    await reload()
    close()
    announce(t.deleted)
  }
  const { query } = useStore(route)
  const shown = connections.filter(one => !query.state || one.authStatus === query.state)
  if (connections.length === 0) return html`<${Empty} title=${t.none}><p>${isAdmin ? t.noneHint : texts.dialogs.askAdmin}</p><//>`
  return html`<form class="filters" onSubmit=${event => event.preventDefault()}>
      <${SelectField} label=${t.state} value=${query.state ?? ""} options=${[["", t.all], ...Object.entries(t.states)]} onChange=${state => replaceQuery({ ...query, state })} /></form>
    ${shown.length === 0 ? html`<${Empty} title=${t.noMatch} />` : html`<${Table} caption=${t.title} columns=${isAdmin ? [...t.columns, texts.parts.actionColumn] : t.columns} isStacked=${true}>${shown.map(one => html`
      <${Row} key=${one.id} connection=${one} name=${providers[one.connector]?.name ?? one.connector} isAdmin=${isAdmin}
        isReady=${providers[one.connector]?.ready} onDelete=${() => ask({ connection: one })} onChange=${reload} />`)}<//>`}
    ${dialog && html`<${DeleteDialog} ...${dialog} onDone=${done} onClose=${close} />`}`
}

/** The providers and the connections. connections is null if no provider is set up: then the API lists no connections. @param {AbortSignal} [signal] */
export const load = async signal => {
  const catalog = await get("/v1/external-data/catalog", undefined, signal)
  if (!catalog.some(one => one.ready)) return { catalog, connections: null }
  return { catalog, connections: await get("/v1/external-data/connections", { org: route.get().organization }, signal) }
}

export default ({ role }) => {
  const state = useLoad(load, [])
  const isAdmin = role !== "viewer"
  return html`<${Title} text=${t.title} /><p>${t.hint}</p><${Loaded} state=${state}>${({ catalog, connections }) => html`
    <section>${connections ? html`<${Connections} catalog=${catalog} connections=${connections} isAdmin=${isAdmin} reload=${state.reload} />`
      : html`<${Empty} title=${t.noProvider}><p>${t.noProviderHint}</p><//>`}</section>
    <${Connect} catalog=${catalog} isAdmin=${isAdmin} />`}<//>`
}
