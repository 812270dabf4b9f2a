// Texts as the API compares choices, tags and values.
import { trimmed } from "./text.js"

// All but ideographs for compatibility, which normalization replaces by others of a different shape.
const CHANGEABLE = /[^\uF900-\uFAFF\u{2F800}-\u{2FA1F}]+/gu

/** The text with letters and their combining marks composed. @param {string} text */
export const composed = text => text.replace(CHANGEABLE, part => part.normalize("NFC"))

/** The texts as the API stores them, each once, without empty ones. @param {string[]} texts */
export const distinct = texts => [...new Set(texts.map(text => composed(trimmed(text))).filter(Boolean))]
