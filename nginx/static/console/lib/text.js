// Texts as the API reads them.

const BLANK = /[\s\u0085\u200B]/u // what String.trim() removes, and two more characters

/** The text without the white space and the invisible characters that the API removes at its ends. @param {string} text */
export const trimmed = text => {
  let [from, to] = [0, text.length]
  while (from < to && BLANK.test(text[from])) from++
  while (from < to && BLANK.test(text[to - 1])) to--
  return text.slice(from, to)
}
