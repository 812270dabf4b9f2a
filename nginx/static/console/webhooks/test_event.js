// The dialog that sends a test event, and waits for the result of the first attempt.
import { get, post } from "../lib/api.js"
import { address } from "../lib/router.js"
import { deliveries as d, endpoints as t } from "../lib/texts_webhooks.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Dialog, ErrorBox, Facts, Loading } from "../ui/parts.js"
import { texts } from "../lib/texts.js"
import { Advice, DeliveryBadge, pathOf, resultOf } from "./parts.js"

const PAUSE = 500 // milliseconds between two looks
const PATIENCE = 30_000 // milliseconds; an attempt takes at most 25 seconds

const pause = () => new Promise(resolve => setTimeout(resolve, PAUSE))

/** Sends an event, and follows its delivery until the first result, or for PATIENCE. */
const follow = async (path, signal, show) => {
  let delivery = await post(`${path}/test`)
  for (const end = Date.now() + PATIENCE; !signal.aborted && delivery.attempts.length === 0 && Date.now() < end;) {
    await pause()
    if (!signal.aborted) delivery = await get(`${path}/deliveries/${delivery.id}`, undefined, signal)
  }
  if (!signal.aborted) show(delivery)
}

const Result = ({ delivery }) => {
  const attempt = delivery.attempts[0]
  if (!attempt) return html`<p class="box">${t.testLate}</p>`
  const isGood = delivery.status === "succeeded"
  return html`<p class="box ${isGood ? "good" : "error"}" role="status">${isGood ? t.testDone : t.testFailed}${delivery.status === "pending" && ` ${t.testRetry}`}</p>
    ${!isGood && html`<${Advice} attempt=${attempt} />`}
    <${Facts} pairs=${[[d.status, html`<${DeliveryBadge} status=${delivery.status} />`], [t.testResult, resultOf(attempt)],
      [t.testDuration, `${attempt.duration_ms} ms`],
      [t.testAnswer, attempt.response_excerpt ? html`<code>${attempt.response_excerpt}</code>` : undefined]]} />`
}

/** The result is below the buttons, so that it moves none of them. */
export const TestEvent = ({ endpoint, onClose }) => {
  const [delivery, show] = useState(null)
  const [error, fail] = useState(null)
  useEffect(() => {
    const control = new AbortController()
    follow(pathOf(endpoint), control.signal, show).catch(found => control.signal.aborted || fail(found))
    return () => control.abort()
  }, [])
  return html`<${Dialog} title=${t.testTitle} onClose=${onClose}><p><code>${endpoint.url}</code></p>
    <div class="actions first"><button type="button" class="primary" onClick=${onClose}>${texts.parts.close}</button>
      ${delivery && html`<a class="button" href=${address(["webhooks", "deliveries", delivery.module_installation_id, delivery.endpoint_id, delivery.id])}>${t.testDelivery}</a>`}</div>
    <${ErrorBox} error=${error} known=${t.testErrors} isLow=${true} />
    ${!error && (delivery ? html`<${Result} delivery=${delivery} />` : html`<${Loading} text=${t.testWaiting} />`)}<//>`
}
