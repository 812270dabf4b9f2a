// The fields of a campaign: between the record of the API and the form.
import { localTimeOf } from "../articles/fields.js"
import { momentIn, numberIn } from "../lib/format.js"
import { valueIn } from "../lib/registry.js"
import { distinct } from "../lib/composed.js"

/**
 * The form of a record; without one, an empty form. targets: pairs of an attribute's key and its value.
 * @param {Partial<Api.AdCampaign>} [campaign]
 */
export const fieldsOf = (campaign = {}) => ({
  name: campaign.name ?? "",
  slot_ids: campaign.slot_ids ?? [],
  status: campaign.status ?? "active",
  starts: localTimeOf(campaign.starts_at),
  ends: localTimeOf(campaign.ends_at),
  weight: String(campaign.weight ?? 1),
  daily: String(campaign.daily_impressions ?? ""),
  cap: String(campaign.frequency_cap ?? ""),
  countries: (campaign.targeting?.countries ?? []).join(", "),
  locales: (campaign.targeting?.locales ?? []).join(", "),
  tags: (campaign.targeting?.tags ?? []).join("\n"),
  targets: Object.entries(campaign.targeting?.attributes ?? {}),
})

const parts = (text, separator) => distinct(text.split(separator))
const timeIn = text => (text ? momentIn(text) : null)

const targetingIn = (fields, registry) => ({
  countries: parts(fields.countries.toUpperCase(), /[\s,;]+/),
  locales: parts(fields.locales, /[\s,;]+/),
  tags: parts(fields.tags, "\n"),
  attributes: Object.fromEntries(fields.targets.filter(([key, value]) => key !== "" && value !== "")
    .map(([key, value]) => [key, valueIn(registry.find(one => one.key === key)?.type, value)])),
})

const BODY = {
  name: fields => fields.name,
  slot_ids: fields => fields.slot_ids,
  status: fields => fields.status,
  starts_at: fields => timeIn(fields.starts),
  ends_at: fields => timeIn(fields.ends),
  weight: fields => numberIn(fields.weight),
  daily_impressions: fields => numberIn(fields.daily),
  frequency_cap: fields => numberIn(fields.cap),
  targeting: targetingIn,
}

/** The body of a POST: empty optional fields are left out. */
export const newCampaignOf = (fields, registry) => Object.fromEntries(Object.entries(BODY)
  .map(([name, read]) => [name, read(fields, registry)]).filter(([, value]) => value !== null))

/** What differs between the record and the form, as the body of a PATCH. The form has times without seconds. */
export const changesOf = (campaign, fields, registry) => {
  const before = fieldsOf(campaign)
  return Object.fromEntries(Object.entries(BODY).map(([name, read]) => [name, read(before, registry), read(fields, registry)])
    .filter(([, was, is]) => JSON.stringify(was) !== JSON.stringify(is)).map(([name, , is]) => [name, is]))
}

export const listedIn = { countries: text => parts(text.toUpperCase(), /[\s,;]+/), locales: text => parts(text, /[\s,;]+/), tags: text => parts(text, "\n") }
