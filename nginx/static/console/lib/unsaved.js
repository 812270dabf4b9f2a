// What a person loses by leaving: text that is not saved, and secrets that are shown once. Leaving asks first.
import { createStore } from "./store.js"
import { createContext, useContext, useLayoutEffect, useRef } from "./view.js"

/** @typedef {"typed" | "secret"} Kind */

/** What would be lost. scope: its dialog; null on a page. @type {Set<{ scope: object | null, kind: Kind }>} */
const entries = new Set()

/** The dialog around a component; null on a page. */
export const Scope = createContext(/** @type {object | null} */ (null))

/** The question that is shown, and a function that takes its answer. turn: counts the questions. */
export const question = createStore({
  turn: 0,
  kind: /** @type {Kind} */ ("typed"),
  answer: /** @type {((leaves: boolean) => void) | null} */ (null),
})

/** The browser asks with words of its own. @param {BeforeUnloadEvent} event */
const askInBrowser = event => event.preventDefault()

/** Browsers keep a page without this listener for the button "Back". */
const follow = () => (entries.size > 0 ? addEventListener("beforeunload", askInBrowser) : removeEventListener("beforeunload", askInBrowser))

/** Whether leaving the page loses something. */
export const isUnsaved = () => entries.size > 0

/** Whether two values of forms differ. @param {any} one @param {any} other */
export const differs = (one, other) => JSON.stringify(one) !== JSON.stringify(other)

/**
 * Asks whether to leave, if that loses something.
 * @param {object} [scope] a dialog that closes; without it, the page with all dialogs
 * @returns {Promise<boolean>}
 */
export const mayLeave = scope => {
  dropQuestion()
  const lost = [...entries].filter(one => scope === undefined || one.scope === scope)
  if (lost.length === 0) return Promise.resolve(true)
  return new Promise(resolve => question.set({
    turn: question.get().turn + 1,
    kind: lost.some(one => one.kind === "secret") ? "secret" : "typed",
    answer: leaves => {
      question.set({ answer: null })
      resolve(leaves)
    },
  }))
}

/** Ends the question as if the person stays: it belongs to one person and one page. */
export const dropQuestion = () => question.get().answer?.(false)

/** Notes while the component is shown that it has something unsaved. @param {boolean} hasSome @param {Kind} [kind] */
export const useUnsaved = (hasSome, kind = "typed") => {
  const scope = useContext(Scope)
  useLayoutEffect(() => {
    if (!hasSome) return undefined
    const entry = { scope, kind }
    entries.add(entry)
    follow()
    return () => {
      entries.delete(entry)
      follow()
    }
  }, [hasSome, scope, kind])
}

/**
 * As useUnsaved, for a form: its values differ from those that it had first.
 * @param {any} values undefined until they are loaded @param {boolean} isSent while the values are being saved
 */
export const useTyped = (values, isSent) => {
  const first = useRef(values)
  first.current ??= values
  useUnsaved(values !== undefined && differs(values, first.current) && !isSent)
}
