// The dialog that a screen shows.
import { useAction } from "./load.js"
import { useRef, useState } from "./view.js"

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

/**
 * As useDialog(), for dialogs that need data: what arrives in an open dialog would move its buttons. `askWith` loads the data, and
 * then shows the dialog with `data`, unless another one was asked for since. `opening` is the action of its button.
 */
export const useLoadedDialog = () => {
  const { dialog, ask, close } = useDialog()
  const opening = useAction()
  const turn = useRef(0)
  /** @param {any} next */
  const askNow = next => {
    turn.current += 1
    if (opening.error) opening.clear()
    ask(next)
  }
  /** @param {object} next @param {() => Promise<any>} load */
  const askWith = async (next, load) => {
    turn.current += 1
    const mine = turn.current
    /** @type {any} */
    let data
    const isLoaded = await opening.run(() => load().then(loaded => void (data = loaded), error => {
      if (mine === turn.current) throw error // that of a dialog that is no longer wanted is not shown
    }))
    if (isLoaded && mine === turn.current) ask({ ...next, data })
  }
  return { dialog, ask: askNow, askWith, opening, close }
}
