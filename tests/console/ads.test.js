import assert from "node:assert/strict"
import test from "node:test"
import { audienceOf } from "../console/ads/campaign.js"
import { creativeChangesOf, creativeFieldsOf, newCreativeOf, sizesOf } from "../console/ads/creative_form.js"
import { nameOf, slotsOf } from "../console/ads/creatives.js"
import { changesOf, fieldsOf, newCampaignOf } from "../console/ads/fields.js"
import { faultsAt } from "../console/lib/faults.js"
import { sumOf, withEmptyDays } from "../console/ads/figures.js"
import { rateOf, remarksOf, stateOf } from "../console/ads/parts.js"
import { jsonOf, parsed } from "../console/lib/exact.js"
import { valueIn } from "../console/lib/registry.js"
import { withSlug } from "../console/slots/dialogs.js"
import { barsOf } from "../console/ui/plot.js"

const CAMPAIGN = {
  name: "Cup", slot_ids: ["a"], status: "active", starts_at: "2026-11-21T10:00:30.123Z", ends_at: null, weight: 5, daily_impressions: 1000,
  frequency_cap: null, targeting: { countries: ["DE"], locales: [], tags: ["a,b", "c"], attributes: { vip: true } },
}
const SLOTS = [{ name: "Top", width: 728, height: 90 }, { name: "Foot", width: 728, height: 90 }, { name: "Side", width: 300, height: 250 }]

test("the state of a campaign names what its admin can change first", () => {
  assert.equal(stateOf([]), "shown")
  assert.equal(stateOf(["paused", "no_creative"]), "paused")
  assert.equal(stateOf(["not_begun", "no_fitting_creative"]), "not_begun")
  assert.equal(stateOf(["no_creative", "budget_spent"]), "problem")
  assert.equal(stateOf(["ahead_of_pace"]), "waiting")
})

test("the reasons that the state does not say are sentences", () => {
  assert.deepEqual(remarksOf({ not_shown_because: ["paused"], slots_without_creative: 0 }), [])
  assert.deepEqual(remarksOf({ not_shown_because: ["paused", "no_creative"], slots_without_creative: 2 }), ["It has no creative. Add one."])
  assert.deepEqual(remarksOf({ not_shown_because: [], slots_without_creative: 1 }), ["1 of its slots has no creative of the right size."])
})

test("a click rate has two decimals, and is missing without impressions", () => {
  assert.equal(rateOf({ impressions: 3, clicks: 1 }), "33.33%")
  assert.equal(rateOf({ impressions: 0, clicks: 0 }), "–")
})

test("a form without changes sends nothing, although it has no seconds", () => {
  assert.deepEqual(changesOf(CAMPAIGN, fieldsOf(CAMPAIGN), []), {})
})

test("the form keeps a number as typed, and sends it as a number", () => {
  const registry = [{ key: "points", type: "number" }, { key: "vip", type: "boolean" }]
  const fields = { ...fieldsOf(CAMPAIGN), targets: [["points", "1.05"], ["vip", "false"]] }
  assert.deepEqual(changesOf(CAMPAIGN, fields, registry).targeting.attributes, { points: 1.05, vip: false })
})

test("a time that does not exist is sent as it is, so that the API names the fault", () => {
  assert.equal(newCampaignOf({ ...fieldsOf(), starts: "20266-11-21T12:00" }, []).starts_at, "20266-11-21T12:00")
})

test("only what differs is sent, null clears a limit, and the targeting is sent whole", () => {
  const fields = { ...fieldsOf(CAMPAIGN), name: "Final", daily: "", countries: "de, gb gb", targets: [["vip", ""]] }
  assert.deepEqual(changesOf(CAMPAIGN, fields, []), {
    name: "Final", daily_impressions: null, targeting: { countries: ["DE", "GB"], locales: [], tags: ["a,b", "c"], attributes: {} },
  })
})

test("a new campaign leaves out empty optional fields", () => {
  assert.deepEqual(newCampaignOf({ ...fieldsOf(), name: "Cup", slot_ids: ["a"], cap: "3" }, []), {
    name: "Cup", slot_ids: ["a"], status: "active", weight: 1, frequency_cap: 3,
    targeting: { countries: [], locales: [], tags: [], attributes: {} },
  })
})

test("a fault of an entry names the entry", () => {
  const error = { fields: { "targeting.countries[1]": "is not a country", "targeting.tags": "has too many entries", name: "is required" } }
  assert.equal(faultsAt(error, "targeting.countries", ["DE", "XX"]), "“XX” is not a country")
  assert.equal(faultsAt(error, "targeting.tags", []), "has too many entries")
  assert.equal(faultsAt(null, "name"), "")
})

test("a value of a targeted attribute has the type of the attribute", () => {
  assert.equal(valueIn("boolean", "true"), true)
  assert.equal(valueIn("number", "1.5"), 1.5)
  assert.equal(valueIn("number", "1,5"), "1,5")
  assert.equal(valueIn("text", "1"), "1")
  assert.equal(valueIn("number", " "), " ")
  assert.deepEqual(valueIn("multi_choice", ["a"]), ["a"])
})

test("a number of an attribute keeps its digits, and is never rounded", () => {
  assert.deepEqual(["9007199254740993", "+007", ".5", "1.", "9007199254740993."].map(text => jsonOf(valueIn("number", text))),
    ["9007199254740993", "7", "0.5", "1", '"9007199254740993."'])
})

test("another change of the targeting keeps the digits of its numbers", () => {
  const campaign = { ...CAMPAIGN, targeting: { ...CAMPAIGN.targeting, attributes: parsed('{"points":9007199254740993}') } }
  assert.deepEqual(changesOf(campaign, fieldsOf(campaign), []), {})
  const { targeting } = changesOf(campaign, { ...fieldsOf(campaign), countries: "GB" }, [{ key: "points", type: "number" }])
  assert.equal(jsonOf(targeting.attributes), '{"points":9007199254740993}')
})

test("the audience is read as words", () => {
  assert.deepEqual(audienceOf(CAMPAIGN.targeting), ["Country: DE", "Tag of the page: a,b or c", "vip: Yes"])
})

test("days without figures are zeros", () => {
  const now = Date.parse("2026-11-21T00:30:00Z")
  const days = withEmptyDays([{ date: "2026-11-20", impressions: 5, clicks: 1 }], 3, now)
  assert.deepEqual(days.map(day => [day.date, day.impressions]), [["2026-11-19", 0], ["2026-11-20", 5], ["2026-11-21", 0]])
  assert.deepEqual(sumOf(days), { impressions: 5, clicks: 1 })
})

test("the highest bar is as high as the plot, and a plot of zeros has none", () => {
  assert.deepEqual(barsOf([{ n: 5 }, { n: 10 }], "n").map(([, height]) => height), [50, 100])
  assert.deepEqual(barsOf([{ n: 0 }], "n").map(([, height]) => height), [0])
})

test("a creative fits slots of its size", () => {
  assert.deepEqual(slotsOf({ width: 728, height: 90 }, SLOTS), ["Top", "Foot"])
  assert.deepEqual(sizesOf(SLOTS), [["728x90", "728 × 90: Top, Foot"], ["300x250", "300 × 250: Side"]])
})

test("the buttons of creatives of one kind and size have different labels", () => {
  const creative = { kind: "image", width: 728, height: 90 }
  assert.deepEqual(["The final", "The cup"].map(text => nameOf(creative, text)), ["Picture 728 × 90, The final", "Picture 728 × 90, The cup"])
  assert.equal(nameOf({ ...creative, kind: "html" }, ""), "HTML 728 × 90") // a picture without a text
})

test("a creative is sent with the content of its kind alone", () => {
  const sizes = sizesOf(SLOTS)
  const fields = { ...creativeFieldsOf(undefined, sizes), image_url: "https://a.example/a.png", html: "<b>x</b>", landing_url: "https://b.example" }
  assert.deepEqual(newCreativeOf(fields), { kind: "image", width: 728, height: 90, image_url: "https://a.example/a.png", landing_url: "https://b.example" })
  const creative = { kind: "image", image_url: "https://a.example/a.png", html: null, alt: "A", width: 1, height: 2, landing_url: "https://b.example" }
  const form = creativeFieldsOf(creative, sizes)
  assert.equal(form.size, "other")
  assert.deepEqual(creativeChangesOf(creative, form), {})
  assert.deepEqual(creativeChangesOf(creative, { ...form, kind: "html", html: "<b>x</b>", alt: "" }), { kind: "html", image_url: null, html: "<b>x</b>", alt: null })
})

test("the short name of a slot follows its name until the person writes one", () => {
  const empty = { name: "", slug: "" }
  const named = withSlug(empty, { ...empty, name: "Home: Top" })
  assert.equal(named.slug, "home-top")
  assert.equal(withSlug({ ...named, slug: "top" }, { name: "Foot", slug: "top" }).slug, "top")
  assert.equal(withSlug(named, { ...named, name: "" }).slug, "")
})
