// The dialog that a screen shows.
import { useState } from "./view.js"

/**
 * What a screen has after an attempt to close `closed`: a dialog that was opened since stays.
 * @param {object | null} shown @param {object | null} closed
 */
export const without = (shown, closed) => (shown === closed ? null : shown)

/**
 * The dialog that a screen shows, as an object that describes it; null without one. `ask` shows a dialog. `close` closes the one
 * of this drawing, and no later one: an action can end after the person has canceled its dialog and opened another one.
 */
export const useDialog = () => {
  const [dialog, ask] = useState(/** @type {any} */ (null))
  return { dialog, ask, close: () => ask(/** @param {any} now */ now => without(now, dialog)) }
}
