// Scrolls a screen to the place where the person left it, as soon as it is loaded.

const PATIENCE = 15_000 // milliseconds for a screen to load
const STEPS = ["wheel", "touchstart", "pointerdown", "keydown"]

/** Gives the focus to the link that was followed, unless the person has moved it in the meantime. @param {Element | null} link */
const focusLink = link => {
  const { activeElement: now } = document
  if (link instanceof HTMLElement && (now === document.body || now?.matches("h1"))) link.focus({ preventScroll: true })
}

/** What the person does first ends it. @param {import("./returning.js").Place} place @param {() => boolean} isOver */
export const scrollBack = ({ top, link }, isOver) => {
  const stop = () => {
    watch.disconnect()
    for (const type of STEPS) removeEventListener(type, stop, true)
  }
  const look = () => {
    if (isOver()) return stop()
    const found = document.querySelector(`main a[href="${CSS.escape(link)}"]`)
    if (!found && document.querySelector("main :is(.loading, [aria-busy=true])")) return
    scrollTo(0, top)
    focusLink(found)
    stop()
  }
  const watch = new MutationObserver(look)
  watch.observe(document.body, { childList: true, subtree: true })
  for (const type of STEPS) addEventListener(type, stop, true)
  setTimeout(look) // after the screen before was removed
  setTimeout(stop, PATIENCE)
}
