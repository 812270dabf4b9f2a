import assert from "node:assert/strict"
import test from "node:test"
import { otherFaults } from "../console/lib/faults.js"
import { isShown, nameOfPath } from "../console/members/edit.js"

const ATTRIBUTES = [{ key: "boat", label: "Boat" }, { key: "races", label: "Races" }]
const linesOf = (fields, ...rest) => Object.keys(otherFaults({ code: "VALIDATION_ERROR", message: "", fields }, ...rest).fields)

test("faults that are next to their fields are not listed again, and others have the names that people know", () => {
  const fields = { country: "is not a country", "attributes.races[1]": "is not a choice", "attributes.boat": "is not enabled", email: "is taken", dob: "is required" }
  assert.deepEqual(linesOf(fields, path => isShown(path, [ATTRIBUTES[1]]), path => nameOfPath(path, ATTRIBUTES)), ["Boat is not enabled", "Mail address is taken"])
})

test("a fault at a path without a name is listed in words", () => {
  assert.deepEqual(linesOf({ "rows[0].first_name": "use fewer characters", "": "must be an object" }, () => false), ["rows first name: use fewer characters", "must be an object"])
})

test("no error has no faults", () => {
  assert.equal(otherFaults(null, () => true), null)
})
