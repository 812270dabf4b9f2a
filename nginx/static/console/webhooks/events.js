// The event types of Muster, by family (docs/webhooks.md). A module adds types of its own.

/** @type {Array<[string, string[]]>} */
export const EVENT_FAMILIES = [
  ["member", ["member.created", "member.attached", "member.updated", "member.locked", "member.unlocked", "member.removed"]],
  ["engagement", ["engagement.recorded"]],
  ["installation", ["installation.enabled", "installation.disabled", "installation.changed"]],
  ["webhook_endpoint", ["webhook_endpoint.disabled", "webhook_endpoint.backlog_dropped"]],
]

/** Sent at the request of an admin; endpoints cannot subscribe to it. */
export const TEST_EVENT = "webhook_endpoint.test"

export const MUSTER_EVENTS = EVENT_FAMILIES.flatMap(([, types]) => types)

/** The event types that a version of a module reports. @param {any} manifest @returns {string[]} */
export const emittedIn = manifest => manifest.events?.emits ?? []

/** The types of a text area: one a line, or separated by spaces or commas; each once. @param {string} text */
export const typesIn = text => [...new Set(text.split(/[\s,]+/).filter(Boolean))]
