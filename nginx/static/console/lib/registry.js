// The organization's registry of attributes, which has several pages if it is large.
import { get } from "./api.js"

/** All attributes, also the disabled ones. @param {AbortSignal} [signal] */
export const allAttributes = async signal => {
  /** @type {Api.Attribute[]} */
  const found = []
  /** @type {string | null | undefined} */
  let cursor
  do {
    /** @type {Api.AttributeList} */
    const page = await get("/v1/attributes", { limit: 100, cursor }, signal)
    found.push(...page.attributes)
    cursor = page.next_cursor
  } while (cursor)
  return found
}
