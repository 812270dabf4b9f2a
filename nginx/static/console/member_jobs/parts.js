// Parts that the screens of bulk changes use.
import { memberJobs as t } from "../lib/texts_members.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const KINDS = { completed: "good", failed: "bad", canceled: "plain" }

export const StateBadge = ({ state }) => html`<${Badge} kind=${KINDS[state] ?? "warn"}>${t.states[state] ?? state}<//>`
