// The keys of pages: tracking keys and content keys.
import { get } from "../lib/api.js"
import { formatAgo, formatTime } from "../lib/format.js"
import { useList } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { keys } from "../lib/texts_keys.js"
import { pageKeys as t } from "../lib/texts_pages.js"
import { html, useState } from "../lib/view.js"
import { stateOf } from "../keys/list.js"
import { Badge, CopyButton, Empty, Loaded, Loading, More, Table, Title } from "../ui/parts.js"
import { IssuePageKey } from "./dialogs.js"
import { PATHS } from "./keys.js"

const KINDS = Object.keys(PATHS)
const SHOWN = 3 // origins in a row of the list

export const KeyState = ({ record }) => html`<${Badge} kind=${stateOf(record) === "active" ? "good" : "plain"}>${keys.states[stateOf(record)]}<//>`

export const usedOf = record => (record.last_used_at ? formatAgo(record.last_used_at) : keys.neverUsed)
export const endOf = record => (record.expires_at ? formatTime(record.expires_at) : keys.noEnd)

const Row = ({ kind, record }) => html`<tr><th scope="row"><a href=${address(["page-keys", kind, record.id])}>${record.name}</a><br />
    <code class="faint">${record.key.slice(0, 12)}…${record.key.slice(-4)}</code></th>
  <td><${KeyState} record=${record} /></td>
  <td>${record.allowed_origins.slice(0, SHOWN).map(origin => html`<div>${origin}</div>`)}
    ${record.allowed_origins.length > SHOWN && html`<div class="faint">${t.moreOrigins(record.allowed_origins.length - SHOWN)}</div>`}</td>
  <td>${usedOf(record)}</td><td>${endOf(record)}</td>
  <td><${CopyButton} text=${record.key} label=${t.copyKey} /></td></tr>`

const useKeys = kind => useList((cursor, signal) => get(PATHS[kind], { cursor, limit: 100 }, signal), "keys", [])

const Keys = ({ kind, list, isAdmin }) => {
  const [issues, issue] = useState(false)
  const words = t.sections[kind]
  return html`<section><div class="title"><h2>${words.title}</h2>${isAdmin && html`<button type="button" class="primary" onClick=${() => issue(true)}>${words.issue}</button>`}</div>
    <p>${words.hint}</p>
    <${Loaded} state=${list}>${() => (list.items.length === 0
      ? html`<${Empty} title=${words.none}><p>${words.noneHint}</p><//>`
      : html`<${Table} caption=${words.title} columns=${[...t.columns, texts.parts.actionColumn]} isStacked=${true}>${list.items.map(record => html`
          <${Row} key=${record.id} kind=${kind} record=${record} />`)}<//><${More} list=${list} />`)}<//>
    ${issues && html`<${IssuePageKey} kind=${kind} onClose=${() => issue(false)} />`}</section>`
}

/** Both lists are drawn at once, because the first one would move the second. */
export default ({ role }) => {
  const lists = KINDS.map(useKeys)
  const isLoading = lists.some(list => list.data === null && list.error === null)
  return html`<${Title} text=${t.title} /><p>${t.hint}</p>
    ${isLoading ? html`<${Loading} />` : KINDS.map((kind, index) => html`<${Keys} key=${kind} kind=${kind} list=${lists[index]} isAdmin=${role !== "viewer"} />`)}`
}
