// Messages of the page: shown for a while, and read by screen readers.
import { createStore } from "./store.js"

/** turn: counts the messages, so that the same text is read again. */
export const announcement = createStore({ text: "", turn: 0 })
let timer = 0

/** @param {string} text */
export const announce = text => {
  clearTimeout(timer)
  announcement.set({ text, turn: announcement.get().turn + 1 })
  timer = setTimeout(() => announcement.set({ text: "" }), 5000)
}
