// Texts as the API reads them.

const BLANK = /[\s\u0085\u200B]/u // what String.trim() removes, and two more characters

/** The text without the white space and the invisible characters that the API removes at its ends. @param {string} text */
export const trimmed = text => {
  let [from, to] = [0, text.length]
  while (from < to && BLANK.test(text[from])) from++
  while (from < to && BLANK.test(text[to - 1])) to--
  return text.slice(from, to)
}

// All but ideographs for compatibility, which normalization replaces by others of a different shape.
const CHANGEABLE = /[^\uF900-\uFAFF\u{2F800}-\u{2FA1F}]+/gu

/** The text with letters and their combining marks composed, as the API compares choices, tags and values. @param {string} text */
export const composed = text => text.replace(CHANGEABLE, part => part.normalize("NFC"))

/** The texts as the API stores them, each once, without empty ones. @param {string[]} texts */
export const distinct = texts => [...new Set(texts.map(text => composed(trimmed(text))).filter(Boolean))]
