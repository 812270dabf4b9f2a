import assert from "node:assert/strict"
import test from "node:test"
import { momentIn } from "../console/lib/format.js"

const inZone = (zone, local) => {
  process.env.TZ = zone
  return momentIn(local)
}

test("a local time of a form is sent as a moment", () => {
  assert.equal(inZone("Europe/Berlin", "2026-03-29T03:30"), "2026-03-29T01:30:00.000Z")
  assert.equal(inZone("Asia/Kathmandu", "2026-11-23T23:59:59"), "2026-11-23T18:14:59.000Z")
  assert.equal(inZone("Europe/Berlin", "2026-10-25T02:30"), "2026-10-25T00:30:00.000Z") // the first of two
})

test("a time that summer time skips is left to the API, which names the fault", () => {
  assert.equal(inZone("Europe/Berlin", "2026-03-29T02:30"), "2026-03-29T02:30")
  assert.equal(inZone("Australia/Lord_Howe", "2026-10-04T02:10"), "2026-10-04T02:10")
  assert.equal(inZone("Europe/Berlin", "2026-02-30T12:00"), "2026-02-30T12:00")
})
