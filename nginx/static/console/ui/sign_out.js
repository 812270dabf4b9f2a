// The sign-out.
import { call } from "../lib/api.js"
import { signedOut } from "../lib/session.js"

/** next: the address after it. */
export const signOut = async (next = "#/") => {
  try {
    await call("DELETE", "/v1/session")
  } finally {
    signedOut()
    location.hash = next
  }
}
