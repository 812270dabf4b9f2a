// The faults of the filters of members, as people call the filters.
import { otherFaults } from "../lib/faults.js"
import { allAttributes } from "../lib/registry.js"
import { attributeKeys, filterNameOf } from "./conditions.js"

/**
 * The error of a list or an export, with the labels of filters instead of the API's names. It reads the registry only if the
 * fault is of an attribute. @param {any} error @param {AbortSignal} [signal]
 */
export const withLabels = async (error, signal) => {
  const faults = error.fields ?? {}
  if (Object.keys(faults).length === 0) return error
  const registry = attributeKeys(faults).length > 0 ? await allAttributes(signal).catch(() => []) : []
  return Object.assign(error, { fields: otherFaults(error, () => false, path => filterNameOf(path, registry)).fields })
}
