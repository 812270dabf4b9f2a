// The organization's registry of attributes, which has several pages if it is large.
import { get } from "./api.js"

/** @returns {Promise<Array<any>>} all attributes, also the disabled ones */
export const allAttributes = async signal => {
  const found = []
  let cursor
  do {
    const page = await get("/v1/attributes", { limit: 100, cursor }, signal)
    found.push(...page.attributes)
    cursor = page.next_cursor
  } while (cursor)
  return found
}
