// Copying and saving text.

/** @param {string} text @returns {Promise<boolean>} whether the browser copied it */
export const copyText = async text => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** A table begins with the mark of UTF-8: without it, Excel reads windows-1252. @param {string} name @param {string} text */
export const fileOf = (name, text) => (name.endsWith(".csv") ? new Blob(["\ufeff", text], { type: "text/csv" }) : new Blob([text], { type: "text/plain" }))

/** Saves text as a file of the browser's downloads. @param {string} name @param {string} text */
export const saveText = (name, text) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(fileOf(name, text))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
