// Parts that the screens of webhooks use.
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const t = texts.deliveries
const KINDS = { succeeded: "good", failed: "bad", pending: "warn" }

export const DeliveryBadge = ({ status }) => html`<${Badge} kind=${KINDS[status] ?? "plain"}>${t.states[status] ?? status}<//>`

/** The result of an attempt: the status of the answer, or why there was none. */
export const resultOf = attempt => (attempt.status_code ? `HTTP ${attempt.status_code}` : t.classes[attempt.class] ?? attempt.class)

export const lastResultOf = delivery => (delivery.attempts.length ? resultOf(delivery.attempts.at(-1)) : "–")
