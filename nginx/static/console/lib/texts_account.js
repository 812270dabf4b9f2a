// The texts of replacing the authenticator, and of signing out everywhere.

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
