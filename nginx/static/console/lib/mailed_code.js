// The address to which a code of the sign-in was mailed: a reload of this tab does not begin the sign-in again. The code itself
// is never kept.
const NAME = "muster.code"
const LIFE = 5 * 60_000 // milliseconds that a code is valid (docs/api/sign-in.md)

/** @param {(storage: Storage) => any} use */
const withStorage = use => {
  try {
    return use(sessionStorage)
  } catch {
    return null // A browser can refuse the storage.
  }
}

export const forgetMailed = () => void withStorage(storage => storage.removeItem(NAME))

/** @param {string} email */
export const keepMailed = email => void withStorage(storage => storage.setItem(NAME, JSON.stringify({ email, until: Date.now() + LIFE })))

/** The address whose code is still valid, by the clock of this browser. @returns {string | null} */
export const mailedTo = () => withStorage(storage => {
  const { email, until } = JSON.parse(storage.getItem(NAME) ?? "{}")
  const left = until - Date.now()
  if (typeof email === "string" && left > 0 && left <= LIFE) return email
  forgetMailed()
  return null
})
