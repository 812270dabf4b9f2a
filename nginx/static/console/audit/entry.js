// An entry of the audit log in words: its action, its record and where that record is, and its details.
import { formatTime } from "../lib/format.js"
import { own } from "../lib/own.js"
import { texts } from "../lib/texts.js"
import { audit as t } from "../lib/texts_audit.js"
import { memberJobs } from "../lib/texts_members.js"

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

/** "API key issued". @param {string} action */
export const actionName = action => own(t.actions, action) ?? action

/** The options of the filter by action: kinds of records, and the chosen action if it is a single one. @param {string | undefined} chosen */
export const actionOptions = chosen => (!chosen || t.prefixes.some(([prefix]) => prefix === chosen) ? t.prefixes : [...t.prefixes, [chosen, actionName(chosen)]])

/** The beginning and the end of an id, which differ between records. @param {string} id */
export const shortened = id => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id)

/** @param {Api.AuditEntry} entry */
export const actorName = entry => entry.actor_email ?? t.actorNames[entry.actor] ?? entry.actor

/** What the record is called; null: its id only. @param {Api.AuditEntry} entry @param {string} [organization] its name */
export const subjectName = (entry, organization) => {
  if (entry.action.startsWith("organization.")) return organization ?? null
  if (entry.action.startsWith("member_job.")) return memberJobs.names[entry.subject_name ?? entry.details.action] ?? entry.subject_name
  return entry.subject_name
}

/** The paths of screens by the kind of record. @type {Record<string, (id: string, parents: string[]) => string[]>} */
const PATHS = {
  ad_campaign: id => ["ads", id],
  ad_creative: (_, [campaign]) => ["ads", campaign],
  ad_slot: () => ["slots"],
  api_key: () => ["keys"],
  article: id => ["articles", id],
  attribute: () => ["attributes"],
  connection: () => ["connections"],
  content_key: id => ["page-keys", "content", id],
  import: id => ["imports", id],
  installation: id => ["installations", id],
  member_job: id => ["member-jobs", id],
  module: id => ["modules", id],
  module_credential: (_, [installation]) => ["installations", installation],
  seat: () => ["team"],
  second_factor: () => ["team"],
  sign_in: () => ["team"],
  tracking_key: id => ["page-keys", "tracking", id],
  user: id => ["members", id],
  webhook_delivery: (id, [installation, endpoint]) => ["webhooks", "deliveries", installation, endpoint, id],
  webhook_endpoint: (id, [installation]) => ["webhooks", "endpoints", installation, id],
}

/** The screen of the record, or the list that has it; null if it does not exist any longer. @param {Api.AuditEntry} entry */
export const pathOf = entry => {
  if (entry.action.startsWith("organization.")) return ["organization"]
  const path = PATHS[entry.action.split(".")[0]]
  return entry.subject_name !== null && entry.subject_id && path ? path(entry.subject_id, entry.subject_parents) : null
}

const GIVEN = ["name", "previous_name", "slug", "version"] // texts that a person gave, whatever they look like

/** @param {string} key @param {string} value */
const wordsOf = (key, value) => {
  if (GIVEN.includes(key)) return value
  if (key === "role" || key === "previous_role") return own(texts.roles, value) ?? value
  if (key === "action") return own(memberJobs.names, value) ?? value
  if (TIME.test(value)) return formatTime(value)
  return own(t.values, value) ?? value
}

/** The screens of records that details name; null if the entry has no link to one. @type {Record<string, (id: string, entry: any) => string[] | null>} */
const DETAIL_PATHS = {
  campaign_id: (id, { subject_parents: parents }) => (parents.includes(id) ? ["ads", id] : null),
  endpoint_id: (id, { subject_parents: [installation] }) => (installation ? ["webhooks", "endpoints", installation, id] : null),
  installation_id: id => ["installations", id],
  invitation_id: () => ["team"],
  invited_by: () => ["team"],
  module_id: id => ["modules", id],
  successor: () => ["keys"],
  version_id: (id, { action, subject_id: subject, details }) => {
    const module = action.startsWith("module.") ? subject : details.module_id
    return module ? ["modules", module, "versions", id] : null
  },
}

const PREVIOUS = "previous_"

const NO_ORIGINS = "none"

/** Whether a detail says more than the rest of its entry: not the name of the record, not a value that did not change, not an empty list. */
const saysMore = ({ details, subject_name: subject }, [key, value]) => {
  if (key.endsWith("_origins") && value === NO_ORIGINS) return false
  if (key.startsWith(PREVIOUS)) return details[key.slice(PREVIOUS.length)] === undefined // otherwise it is a part of the new value
  return value !== details[PREVIOUS + key] && !(key === "name" && value === subject && details[`${PREVIOUS}name`] === undefined)
}

/**
 * The details of an entry: names, texts, changes, and ids that are shown in short, with the screen of their record if there is one.
 * @param {Api.AuditEntry} entry @returns {Array<{ name: string, text: string, id?: string, path?: string[] | null }>}
 */
export const detailsOf = entry => Object.entries(entry.details ?? {}).filter(detail => saysMore(entry, detail)).map(([key, value]) => {
  const name = t.details[key] ?? key.replaceAll("_", " ")
  const before = entry.details[PREVIOUS + key]
  if (before !== undefined) return { name, text: t.change(wordsOf(key, before), wordsOf(key, value)) }
  if (GIVEN.includes(key) || (!UUID.test(value) && key !== "request_id")) return { name, text: wordsOf(key, value) }
  const path = DETAIL_PATHS[key]?.(value, entry) ?? null
  return { name, text: path ? t.open : shortened(value), id: value, path }
})
