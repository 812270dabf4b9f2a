// Choices of this browser: in its storage if it has one, otherwise until the page is left.
const fallback = new Map()

/** @param {string} name */
export const readSetting = name => {
  try {
    return localStorage.getItem(`muster.${name}`) ?? fallback.get(name) ?? null
  } catch {
    return fallback.get(name) ?? null
  }
}

/** @param {string} name @param {string | null} value null removes the setting */
export const writeSetting = (name, value) => {
  if (value === null) fallback.delete(name)
  else fallback.set(name, value)
  try {
    if (value === null) localStorage.removeItem(`muster.${name}`)
    else localStorage.setItem(`muster.${name}`, value)
  } catch {
    // A browser can refuse the storage.
  }
}
