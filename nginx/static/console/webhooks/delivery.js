// One delivery: its attempts, what was sent, and sending it again.
import { get, post } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { formatTime } from "../lib/format.js"
import { DEEPEST_REPLY, parse, printed } from "../lib/json.js"
import { useAction, useLoad } from "../lib/load.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { deliveries as t } from "../lib/texts_webhooks.js"
import { html } from "../lib/view.js"
import { CopyButton, ErrorBox, Facts, Loaded, Table, Title } from "../ui/parts.js"
import { Advice, DeliveryBadge, addressOf, resultOf } from "./parts.js"

/** JSON with line breaks, and its numbers as they were sent; other text as it is. @param {string} text */
export const indented = text => {
  try {
    return printed(parse(text, DEEPEST_REPLY))
  } catch {
    return text
  }
}

const Attempts = ({ delivery }) => html`<section><h2>${t.attempts}</h2>${delivery.attempts.length === 0
  ? html`<p class="faint">${t.noAttempts}</p>`
  : html`<${Table} caption=${t.attempts} columns=${t.attemptColumns} numbers=${[2]}>${delivery.attempts.map(one => html`<tr>
      <td class="nowrap">${formatTime(one.at)}</td><td>${resultOf(one)}</td><td class="number">${one.duration_ms} ms</td>
      <td><code>${one.response_excerpt || "–"}</code></td></tr>`)}<//>`}</section>`

/** Whether a body reached a receiver: "sent", "maybe", "unsent", or "next" before the first attempt. @param {Api.WebhookDelivery} delivery */
export const sentStateOf = ({ attempts, status }) => {
  if (attempts.some(one => one.status_code)) return "sent"
  if (attempts.some(one => ["timeout", "connect", "internal"].includes(one.class))) return "maybe"
  return attempts.length === 0 && status === "pending" ? "next" : "unsent"
}

const Sent = ({ delivery }) => {
  const state = sentStateOf(delivery)
  return html`<section><h2>${t.payload[state]}</h2>
  <p class="actions"><${CopyButton} text=${delivery.payload} label=${t.copyPayload} /></p>
  <pre tabindex="0" role="region" aria-label=${t.payload[state]}>${indented(delivery.payload)}</pre>
  ${delivery.request_headers.length > 0 && html`<h2>${state === "unsent" ? t.unsentHeaders : t.headers}</h2>
    <${Facts} pairs=${Object.entries(delivery.request_headers.at(-1))} />`}</section>`
}

const load = async (path, id, signal) => {
  const [delivery, endpoint] = await Promise.all([get(`${path}/deliveries/${id}`, undefined, signal), get(path, undefined, signal)])
  return { delivery, endpoint }
}

export default ({ installation, endpoint: endpointId, id, role }) => {
  const path = `/v1/installations/${installation}/webhook-endpoints/${endpointId}`
  const state = useLoad(signal => load(path, id, signal), [id])
  const sending = useAction()
  const again = () => sending.run(async () => {
    await post(`${path}/deliveries/${id}/redeliver`)
    await state.reload()
    announce(t.queued)
  })
  return html`<p><a href=${address(["webhooks", "deliveries"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.delivery}>${({ delivery, endpoint }) => html`
    <${Title} text=${delivery.event_type} actions=${role !== "viewer" && html`
      <button type="button" disabled=${sending.isBusy} onClick=${again}>${t.redeliver}</button>`} />
    <${ErrorBox} error=${sending.error} />
    ${delivery.status !== "succeeded" && html`<${Advice} attempt=${delivery.attempts.at(-1)} />`}
    <section><${Facts} pairs=${[[t.status, html`<${DeliveryBadge} status=${delivery.status} />`], [t.created, formatTime(delivery.created_at)],
      [t.next, delivery.status === "pending" ? formatTime(delivery.next_attempt_at) : undefined], [t.webhookId, html`<code>${delivery.webhook_id}</code>`],
      [t.endpoint, html`<a href=${addressOf(endpoint)}>${endpoint.url}</a>`]]} /></section>
    <${Attempts} delivery=${delivery} /><${Sent} delivery=${delivery} />`}<//>`
}
