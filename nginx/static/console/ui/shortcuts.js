// Keys of the whole console: / focuses the search, ? lists the keys. The person can switch them off (WCAG 2.1.4).
import { readSetting, writeSetting } from "../lib/settings.js"

export const areKeysOn = () => readSetting("keys") !== "off"
export const setKeys = on => writeSetting("keys", on ? null : "off")

const isTyping = target => target instanceof HTMLElement
  && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const searchField = () => document.querySelector("input[type=search]")

/** The keys that work on the current screen. @param {boolean} areOn @returns {string[]} */
export const keysHere = areOn => [
  ...(areOn && searchField() ? ["/"] : []), ...(areOn ? ["?"] : []), "Esc", ...(document.querySelector("main form button:not([type=button])") ? ["Enter"] : []),
]

/** @param {() => void} showKeys @returns {() => void} a function that stops it */
export const listenForKeys = showKeys => {
  const listen = event => {
    if (!areKeysOn() || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    if (document.querySelector("dialog[open]")) return
    const search = searchField()
    if (event.key === "/" && search instanceof HTMLElement) search.focus()
    else if (event.key === "?") showKeys()
    else return
    event.preventDefault()
  }
  addEventListener("keydown", listen)
  return () => removeEventListener("keydown", listen)
}
