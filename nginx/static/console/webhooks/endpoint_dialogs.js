// The dialogs of a webhook endpoint: rotate its secret, pause, disable, delete.
import { announce } from "../lib/announce.js"
import { call, get, ifMatch } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { ErrorBox } from "../ui/parts.js"
import { Made } from "./form.js"
import { pathOf } from "./parts.js"

const MOST_COUNTED = 100 // waiting deliveries on one page of the API

/** The deliveries of an endpoint that wait, or their first page. An error does not prevent the dialog: they are only counted. */
export const waitingOf = endpoint => get(`${pathOf(endpoint)}/deliveries`, { status: "pending", limit: MOST_COUNTED }).catch(error => ({ error }))

/** How many deliveries of the endpoint wait, as a sentence. waiting: of waitingOf(). */
const Waiting = ({ waiting: { deliveries, next_cursor, error }, text }) => (error ? html`<${ErrorBox} error=${error} />` : html`
  <p>${deliveries.length ? text(t.waitingCount(deliveries.length, Boolean(next_cursor))) : t.waitingNone}</p>`)

const setStatus = (endpoint, status) => call("PATCH", pathOf(endpoint), { body: { status }, headers: ifMatch(endpoint) })

/** A question, and one call. mustStay: as of FormDialog. */
const Question = ({ endpoint, title, action, kind, ask, onDone, onClose, onReload, known, mustStay, children }) => {
  const running = useAction()
  const submit = () => running.run(async () => onDone(await ask(endpoint)))
  return html`<${FormDialog} title=${title} action=${action} kind=${kind} record=${endpoint} running=${running} known=${known} mustStay=${mustStay} submit=${submit}
    onClose=${onClose} onReload=${onReload}>
    <p><code>${endpoint.url}</code></p>${children}<//>`
}

const said = (text, done) => async () => {
  await done()
  announce(text)
}

export const Pause = props => html`<${Question} ...${props} title=${t.pauseTitle} action=${t.pause} kind="primary" ask=${one => setStatus(one, "paused")}
  onDone=${said(t.paused, props.onDone)}><p>${t.pauseHint}</p><//>`

export const Disable = props => html`<${Question} ...${props} title=${t.disableTitle} action=${t.disable} kind="danger" ask=${one => setStatus(one, "disabled")}
  onDone=${said(t.disabled, props.onDone)}><p>${t.disableHint}</p><${Waiting} waiting=${props.data} text=${t.disableWaiting} /><//>`

export const Delete = props => html`<${Question} ...${props} title=${t.deleteTitle} action=${t.delete} kind="danger"
  ask=${one => call("DELETE", pathOf(one), { headers: ifMatch(one) })} onDone=${said(t.deleted, props.onDeleted)}>
  <p>${t.deleteHint}</p><${Waiting} waiting=${props.data} text=${t.deleteWaiting} /><//>`

export const Rotate = props => {
  const [made, show] = useState(null)
  const create = useCreate()
  const rotate = one => create(`${pathOf(one)}/rotate-secret`, undefined, { headers: ifMatch(one) })
  if (made) return html`<${Made} made=${made} onClose=${props.onLeave} />`
  return html`<${Question} ...${props} title=${t.rotateTitle} action=${t.rotate} kind="primary" known=${t.rotateErrors} mustStay=${true} ask=${rotate}
    onDone=${show}>
    <p>${t.rotateHint}</p><//>`
}
