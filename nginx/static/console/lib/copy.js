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

/** Saves text as a file of the browser's downloads. @param {string} name @param {string} text */
export const saveText = (name, text) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
