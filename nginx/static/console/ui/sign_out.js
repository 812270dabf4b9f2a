// The sign-out.
import { announce } from "../lib/announce.js"
import { call } from "../lib/api.js"
import { go } from "../lib/router.js"
import { signedOut } from "../lib/session.js"
import { texts } from "../lib/texts.js"
import { mayLeave } from "../lib/unsaved.js"

/** Throws if the server did not end the session: it is valid then, and the person stays signed in. next: the address after it. */
export const signOut = async (next = "#/") => {
  try {
    await call("DELETE", "/v1/session")
  } catch (error) {
    if (error.status !== 401) throw error // 401: it had ended before
  }
  signedOut()
  go(next)
}

/** The action of a button: a message says that the person is still signed in. @param {string} [next] */
export const trySignOut = async next => {
  if (await mayLeave()) await signOut(next).catch(error => announce(texts.shell.notSignedOut(error.message)))
}
