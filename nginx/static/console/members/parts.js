// Parts that several screens of members use.
import { texts } from "../lib/texts.js"
import { members as t } from "../lib/texts_members.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

/** What a person is called on a list: their name, or without one their address. */
export const nameOf = member =>
  member.display_name || [member.first_name, member.last_name].filter(Boolean).join(" ") || member.email

export const StatusBadge = ({ status }) =>
  html`<${Badge} kind=${status === "active" ? "good" : "warn"}>${t.statusNames[status] ?? status}<//>`

/** A value of an attribute as text. */
export const valueText = value => {
  if (Array.isArray(value)) return value.join(", ")
  if (typeof value === "boolean") return value ? texts.parts.yes : texts.parts.no
  return value === null || value === undefined ? "–" : String(value)
}
