// Choices of this browser: in its storage if it has one, otherwise until the page is left.

/** What the storage did not take. @type {Map<string, string | null>} */
const fallback = new Map()

/** @param {string} name */
const keyOf = name => `muster.${name}`

/** @param {string} name @returns {string | null} */
export const readSetting = name => {
  if (fallback.has(name)) return fallback.get(name) ?? null
  try {
    return localStorage.getItem(keyOf(name))
  } catch {
    return null // A browser can refuse the storage.
  }
}

/** @param {string} name @param {string | null} value null removes the setting */
export const writeSetting = (name, value) => {
  try {
    if (value === null) localStorage.removeItem(keyOf(name))
    else localStorage.setItem(keyOf(name), value)
    fallback.delete(name)
  } catch {
    fallback.set(name, value)
  }
}

/** Whether the browser keeps settings when the page is left. */
export const hasStorage = () => {
  try {
    localStorage.getItem(keyOf("session"))
    return true
  } catch {
    return false
  }
}

/**
 * Calls `listener` when another tab changes a setting.
 * @param {string} name @param {(value: string | null) => void} listener @returns {() => void} a function that stops it
 */
export const followSetting = (name, listener) => {
  /** @param {StorageEvent} event without a key if the tab deleted all settings */
  const follow = event => {
    if (event.key !== null && event.key !== keyOf(name)) return
    fallback.delete(name)
    listener(event.newValue)
  }
  addEventListener("storage", follow)
  return () => removeEventListener("storage", follow)
}
