// The two kinds of page keys: their paths, and the fields between the record of the API and the form.
import { dayOf, endOfDay } from "../keys/dialogs.js"
import { numberIn } from "../lib/format.js"
import { trimmed } from "../lib/text.js"
import { originsIn } from "./origins.js"

export const PATHS = { tracking: "/v1/engagement/keys", content: "/console/v1/content-keys" }

/** The form of a record; without one, an empty form. A content key has no limits. @param {Partial<Api.TrackingKey>} [key] */
export const fieldsOf = (key = {}) => ({
  name: key.name ?? "", origins: key.allowed_origins ?? [""], day: dayOf(key.expires_at),
  perSecond: String(key.rate_limit_per_second ?? ""), burst: String(key.burst ?? ""),
})

const bodyOf = (kind, fields) => ({
  name: trimmed(fields.name), allowed_origins: originsIn(fields.origins), expires_at: endOfDay(fields.day),
  ...(kind === "tracking" ? { rate_limit_per_second: numberIn(fields.perSecond), burst: numberIn(fields.burst) } : {}),
})

/** The body of a POST. */
export const newKeyOf = bodyOf

/** What differs between the record and the form, as the body of a PATCH; null clears a value. */
export const changesOf = (kind, key, fields) => {
  const before = bodyOf(kind, fieldsOf(key))
  return Object.fromEntries(Object.entries(bodyOf(kind, fields)).filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value)))
}
