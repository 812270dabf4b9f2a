// The texts of the admin's own sign-in: sessions, backup codes, the authenticator, and signing out everywhere.
import { isolating } from "./isolate.js"

export const account = isolating({
  title: "My sign-in",
  factor: "Second factor",
  signedInAs: address => `You are signed in as ${address}.`,
  left: count => `You have ${count} left. Each replaces your authenticator once.`,
  newCodes: "New backup codes",
  newCodesHint: "You get ten new codes. The previous ones are then invalid.",
  make: "Make new codes",
  sessions: "Sessions",
  columns: ["Browser or program", "Country", "Signed in", "Last used", "Action"],
  current: "This one",
  unknown: "Unknown",
  end: "End",
  endTitle: "End this session?",
  endAbout: (program, time) => `${program}, signed in on ${time}.`,
  endOthers: "End all others",
  endOthersTitle: "End all other sessions?",
  endHint: "The next request of the session is rejected. To continue there, sign in again.",
  ended: "The session was ended.",
})

export const authenticator = {
  replace: "Replace the authenticator",
  title: "Replace the authenticator",
  steps: "You need a code of the current authenticator, or a backup code. The current one works until the last step.",
  current: "Current code or backup code",
  currentHint: "Six digits of the authenticator that you use now, or a backup code.",
  continue: "Continue",
  scan: "Set up the new authenticator",
  next: "Code of the new authenticator",
  nextHint: "Six digits. Enter it within 15 minutes.",
  finish: "Replace",
  replaced: "The authenticator was replaced. The previous one no longer works.",
  errors: {
    UNAUTHORIZED: "The code is wrong or was used before. Wait for the next code, and try again.",
    VALIDATION_ERROR: "This is not a code. Check it, and try again.",
    RATE_LIMITED: "Too many wrong codes. Wait before you try again.",
    INVALID_STATE: "More than 15 minutes have passed. Close this dialog, and begin again.",
  },
}

export const everywhere = {
  action: "Sign out everywhere",
  title: "Sign out everywhere?",
  hint: "All your sessions end, also this one, on all computers. To continue, sign in again.",
}
