// The focus of a page whose parts are replaced. A browser drops the focus with the control that has it, and a screen reader then
// begins at the top of the page. So a heading takes it.

/** Whether no control has the focus: the one that had it was removed or disabled. */
export const isFocusLost = () => document.activeElement === null || document.activeElement === document.body

/** @param {Element | null} element */
const withAncestors = element => {
  const path = []
  for (let one = element; one; one = one.parentElement) path.push(one)
  return path
}

/** The first heading of the smallest part of the page that is left of a path. @param {Element[]} path */
const headingNear = path => path.filter(one => one.isConnected).map(one => one.querySelector("h1, h2, h3")).find(Boolean)

/** Gives the focus of a control that is removed to the nearest heading. */
export const keepFocus = () => {
  /** @type {Element[]} */
  let path = []
  const look = () => {
    if (path.length === 0 || path[0].isConnected || !isFocusLost()) return
    const heading = headingNear(path)
    path = []
    if (!(heading instanceof HTMLElement)) return
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
  }
  addEventListener("focusin", ({ target }) => void (path = withAncestors(target instanceof Element ? target : null)))
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
}
