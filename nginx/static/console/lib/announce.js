// Messages of the page: shown for a while, and read by screen readers.
import { createStore } from "./store.js"

export const announcement = createStore({ text: "" })
let timer = 0

/** @param {string} text */
export const announce = text => {
  clearTimeout(timer)
  announcement.set({ text })
  timer = setTimeout(() => announcement.set({ text: "" }), 5000)
}
