// Parts that the screens of modules use.
import { modules as t } from "../lib/texts_modules.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const KINDS = { draft: "plain", published: "good", deprecated: "warn" }

export const ModuleBadge = ({ status }) => html`<${Badge} kind=${KINDS[status] ?? "plain"}>${t.states[status] ?? status}<//>`
export const VersionBadge = ({ status }) => html`<${Badge} kind=${KINDS[status] ?? "plain"}>${t.versionStates[status] ?? status}<//>`

/** What the types of a module's events begin with. @param {string} slug */
export const eventPrefixOf = slug => `${slug.replaceAll("-", "_")}.`

/** The installations that are not disabled, by the ids of their modules. */
export const installedIn = installations => Object.fromEntries(
  installations.filter(one => one.status !== "disabled").map(one => [one.module_id, one]))
