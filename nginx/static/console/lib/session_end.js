// When the session ends: 12 hours after its last request, and a week after the sign-in. All tabs share one session.
import { readSetting, writeSetting } from "./settings.js"

const NEAR = 10 * 60_000 // milliseconds before the end in which the page says so
const ACCURACY = 60_000 // milliseconds to which the server keeps the time of the last use
const PAUSE = 10_000 // milliseconds between two entries in the storage

let noted = 0
let ahead = 0 // milliseconds from the browser's clock to the server's, in steps of PAUSE

/** The server's time in milliseconds. A browser's clock can be wrong. */
export const serverNow = () => Date.now() + ahead

/** A request was answered, which postpones the end of an unused session. @param {Response} reply */
export const noteUse = reply => {
  const date = Date.parse(String(reply.headers.get("Date")))
  if (date) ahead = Math.round((date - Date.now()) / PAUSE) * PAUSE
  if (serverNow() - noted < PAUSE) return
  noted = serverNow()
  writeSetting("used", String(noted))
}

/** @returns {number} the time of the last request of all tabs, in milliseconds */
export const lastUse = () => Number(readSetting("used") ?? 0)

/** The milliseconds that a session lasts without requests; null if it ends earlier anyway. @param {any} record of GET /v1/sessions */
export const idleLifeOf = record => (record && record.idle_expires_at < record.expires_at
  ? new Date(record.idle_expires_at).getTime() - new Date(record.last_used_at).getTime() : null)

/**
 * The next end of the session, and what the page does about it.
 * @param {{ now: number, used: number, idleLife: number | null, expiresAt: string }} known
 * @returns {{ kind: "idle" | "fixed", at: number, isNear: boolean, isOver: boolean }}
 */
export const endOf = ({ now, used, idleLife, expiresAt }) => {
  const fixed = new Date(expiresAt).getTime()
  const idle = idleLife === null ? Infinity : used + idleLife - ACCURACY
  const at = Math.min(fixed, idle)
  return { kind: idle < fixed ? "idle" : "fixed", at, isNear: now >= at - NEAR, isOver: now >= at + 2 * ACCURACY }
}
