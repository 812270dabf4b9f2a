// The admin's session, as far as the pages know it. The cookie itself is out of their reach.
import { readSetting, writeSetting } from "./settings.js"
import { createStore } from "./store.js"

/**
 * state: "unknown" until the server was asked; "out"; "factor": signed in, without a verified second factor; "in".
 * hasEnded: the session ended while a page was in use.
 */
export const session = createStore({
  state: "unknown",
  hasEnded: false,
  admin: /** @type {Api.SessionAdmin | null} */ (null),
  seats: /** @type {Api.Seat[]} */ ([]),
  activeOrganization: /** @type {string | null} */ (null),
  isEnrolled: false,
  expiresAt: /** @type {string | null} */ (null),
})

/** Takes the reply to GET /v1/session, or to a sign-in. @param {Api.Session | Api.SignedIn} reply */
export const takeSession = reply => {
  writeSetting("session", "1")
  session.set({
    state: reply.two_factor.verified ? "in" : "factor",
    hasEnded: false,
    admin: "admin" in reply ? reply.admin : session.get().admin,
    seats: reply.seats,
    activeOrganization: reply.active_organization_id,
    isEnrolled: reply.two_factor.enrolled,
    expiresAt: reply.expires_at,
  })
}

/** Whether this browser has signed in since the last sign-out. Without it, the server need not be asked. */
export const mayHaveSession = () => readSetting("session") !== null

export const endSession = () => {
  const was = session.get().state
  writeSetting("session", null)
  session.set({ state: "out", hasEnded: was === "in", seats: [] })
}

/** Asks for a code of the second factor; set while a dialog is open. */
export const confirmation = createStore({ done: /** @type {((verified: boolean) => void) | null} */ (null) })

/** @returns {Promise<boolean>} whether the person has verified the second factor again */
export const confirmFactor = () => new Promise(resolve => {
  confirmation.set({
    done: verified => {
      confirmation.set({ done: null })
      resolve(verified)
    },
  })
})
