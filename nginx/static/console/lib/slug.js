// Short names that a title or a name suggests.
import { trimmed } from "./text.js"

/** A short name that a title suggests: "Fußball & Café" is "fussball-cafe". @param {string} title */
export const slugOf = title => title.toLowerCase().replaceAll("ß", "ss").normalize("NFD").replace(/\p{M}/gu, "")
  .replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 128)

export const LONGEST_SLUG = 63 // of a module and of a slot

/**
 * A short name that a name suggests for a module or a slot: it begins with a letter, and has two characters. "" without a name.
 * @param {string} name @param {"module" | "slot"} kind
 */
export const shortNameOf = (name, kind) => {
  if (!trimmed(name)) return ""
  const slug = slugOf(name)
  return (/^[a-z]./.test(slug) ? slug : `${kind}-${slug}`).slice(0, LONGEST_SLUG).replace(/-$/, "")
}
