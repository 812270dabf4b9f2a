// The admin's session, as far as the pages know it. The cookie itself is out of their reach.
import { forgetMailed } from "./mailed_code.js"
import { followSetting, hasStorage, readSetting, writeSetting } from "./settings.js"
import { createStore } from "./store.js"
import { dropQuestion } from "./unsaved.js"

const OUT = {
  state: "out",
  hasEnded: false,
  admin: /** @type {Api.SessionAdmin | null} */ (null),
  seats: /** @type {Api.Seat[]} */ ([]),
  lostSeats: /** @type {Api.Seat[]} */ ([]),
  invitations: /** @type {Api.OwnInvitation[]} */ ([]),
}

/**
 * state: "unknown" until the server was asked; "out"; "factor": signed in, without a verified second factor; "in".
 * hasEnded: the session ended while a page was in use. The page stays, below the sign-in.
 * lostSeats: seats that the person had while the page was open, and has no longer.
 */
export const session = createStore({
  ...OUT,
  state: "unknown",
  activeOrganization: /** @type {string | null} */ (null),
  isEnrolled: false,
  expiresAt: /** @type {string | null} */ (null),
})

/** Asks for a code of the second factor; set while a dialog is open. */
export const confirmation = createStore({ done: /** @type {((verified: boolean) => void) | null} */ (null) })

/** Ends the questions without an answer: they belong to one person and one action. */
const dropQuestions = () => {
  confirmation.get().done?.(false)
  dropQuestion()
}

/** @returns {Promise<boolean>} whether the person has verified the second factor again */
export const confirmFactor = () => new Promise(resolve => {
  confirmation.get().done?.(false)
  confirmation.set({
    done: verified => {
      confirmation.set({ done: null })
      resolve(verified)
    },
  })
})

/** @param {Api.Seat[]} had @param {Api.Seat[]} seats */
const lostOf = (had, seats) => had.filter(({ organization_id: id }) => !seats.some(one => one.organization_id === id))

/** Takes the reply to GET /v1/session, or to a sign-in. @param {Api.Session | Api.SignedIn} reply */
export const takeSession = reply => {
  const before = session.get()
  const isVerified = reply.two_factor.verified
  const isOther = "admin" in reply && reply.admin.id !== before.admin?.id
  if (isOther) dropQuestions()
  writeSetting("session", isVerified ? "open" : "factor")
  forgetMailed()
  session.set({
    state: isVerified ? "in" : "factor",
    hasEnded: before.hasEnded && !isVerified,
    admin: "admin" in reply ? reply.admin : before.admin,
    seats: reply.seats,
    lostSeats: isOther ? [] : lostOf([...before.lostSeats, ...before.seats], reply.seats),
    invitations: "invitations" in reply ? reply.invitations : before.invitations,
    activeOrganization: reply.active_organization_id,
    isEnrolled: reply.two_factor.enrolled,
    expiresAt: reply.expires_at,
  })
}

/** Whether this browser has signed in since the last sign-out, as far as it remembers. Otherwise the server need not be asked. */
export const mayHaveSession = () => !hasStorage() || ["open", "factor"].includes(readSetting("session") ?? "")

/** The server has ended the session, or will end it with the next sign-in. */
export const endSession = () => {
  const { state, hasEnded } = session.get()
  writeSetting("session", "ended")
  if (state === "in" || hasEnded) session.set({ state: "out", hasEnded: true })
  else session.set(OUT)
}

const forget = () => {
  dropQuestions()
  session.set(OUT)
}

/** The person has signed out. */
export const signedOut = () => {
  writeSetting("session", null)
  forget()
}

/** Follows the other tabs of this browser. @param {() => void} onSignIn called after a sign-in in another tab */
export const followTabs = onSignIn => followSetting("session", value => {
  const { state } = session.get()
  if (value === "open" && state !== "in") onSignIn()
  if (value === "ended" && state === "in") endSession()
  if (value === null && state !== "unknown") forget()
})
