// Numbers, times and sizes as the browser's language writes them.
import { serverNow } from "./session_end.js"

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", minimumFractionDigits: 2, maximumFractionDigits: 2 })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })
const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })
/** @type {Array<[Intl.RelativeTimeFormatUnit, number]>} */
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]]

/** A moment as text; a text that is not a moment stays as it is. @param {Intl.DateTimeFormat} format @param {string} text */
const written = (format, text) => {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? text : format.format(at)
}

/** @param {number} value */
export const formatNumber = value => number.format(value)
/** "2.35%". @param {number} share */
export const formatPercent = share => percent.format(share)

/**
 * The day of a moment in the browser's time zone; a date without a time is the same day everywhere.
 * @param {string | null | undefined} text
 */
export const formatDay = text => (text ? written(/^\d{4}-\d{2}-\d{2}$/.test(text) ? date : day, text) : "–")
/** @param {string | null | undefined} text */
export const formatTime = text => (text ? written(time, text) : "–")
/** With seconds. @param {string} text */
export const formatClock = text => written(clock, text)

/** A local time of a form as the API takes it. A time that does not exist, such as one that summer time skips, stays as it is, so that the API names the fault. @param {string} local */
export const momentIn = local => {
  const at = new Date(local)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toJSON()?.startsWith(local) ? at.toISOString() : local
}

/** The number in a field; null if the field is empty. @param {string} text */
export const numberIn = text => (text.trim() === "" ? null : Number(text))

/**
 * A day of the browser's time zone as the moment when it begins, or when the next one begins. A moment stays as it is.
 * @param {string | null | undefined} day @param {boolean} isEnd
 */
export const momentOf = (day, isEnd) => {
  const text = day ?? ""
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return text
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const [year, month, date] = text.split("-").map(Number)
  return new Date(year, month - 1, date + Number(isEnd)).toISOString()
}

/** "3 hours ago", or "in 5 minutes". @param {string} text @param {number} [now] */
export const formatAgo = (text, now = serverNow()) => {
  const seconds = (new Date(text).getTime() - now) / 1000
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit)
  }
  return "just now"
}

/** "1 row", "2 rows". @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) => `${formatNumber(count)} ${count === 1 ? one : many}`

/** "40 s", "3 min". @param {number} seconds */
export const formatDuration = seconds =>
  seconds < 60 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`

const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB"]

/** "512 bytes", "1.5 GiB". @param {number} count */
export const formatBytes = count => {
  const step = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), SIZES.length - 1)
  return `${number.format(Math.round((10 * count) / 1024 ** step) / 10)} ${SIZES[step]}`
}
