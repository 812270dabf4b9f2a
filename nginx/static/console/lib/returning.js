// The place of a person on a screen: how far it was scrolled, the link that was followed, and the pages that its lists had. An entry
// of the history notes it when the person leaves, so that the button "Back" leads to that place.

/** @typedef {{ top: number, link: string, pages: Record<string, number> }} Place */

/** Pages that the lists of the shown screen have, by the names of their records. @type {Map<string, number>} */
const pagesOf = new Map()

/** Of the lists to which the person has returned, until they are loaded. @type {Record<string, number>} */
let awaited = {}

let begun = 0 // screens

/** Notes how many pages a list shows; 0 when it is gone. @param {string} name @param {number} pages */
export const notePages = (name, pages) => void (pages ? pagesOf.set(name, pages) : pagesOf.delete(name))

/** How many pages a new list begins with. @param {string} name */
export const takePages = name => {
  const pages = awaited[name] ?? 1
  delete awaited[name]
  return pages
}

/** @param {string} link the address to which the person goes @returns {Place} */
export const placeOf = link => ({ top: scrollY, link, pages: Object.fromEntries(pagesOf) })

/** Begins a screen: at its top, or at the place where the person was. @param {Place | undefined} place */
export const beginAt = place => {
  const turn = ++begun
  awaited = { ...place?.pages }
  if (place) import("./scroll_back.js").then(({ scrollBack }) => scrollBack(place, () => turn !== begun), () => {}) // without it, at its top
}
