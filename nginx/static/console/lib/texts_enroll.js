// The texts of the setup of an authenticator, and of backup codes.
import { isolating } from "./isolate.js"

export const enroll = isolating({
  why: "Every admin signs in with a second factor. You need an authenticator app on your phone or computer.",
  scan: "1. Scan this code",
  scanHint: "Open your authenticator app, add an account, and scan the code.",
  qr: "QR code of the secret below",
  secret: "If you cannot scan it, enter this secret:",
  codes: "2. Save the backup codes",
  codesHint: "Each code replaces your authenticator once, for example after the loss of your phone. They are shown only now.",
  copyCodes: "Copy all",
  saveCodes: "Download",
  saved: "I saved the backup codes",
  confirm: "3. Enter a code of the app",
  saveFirst: "Save the backup codes first.",
  finish: "Finish",
})
