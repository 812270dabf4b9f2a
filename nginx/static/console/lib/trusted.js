// The page's only policy of Trusted Types. It shows a document of the API in a frame that runs no scripts, and nothing else:
// the policy itself is not exported.
const policy = globalThis.trustedTypes?.createPolicy("muster", { createHTML: text => text }) ?? { createHTML: text => text }

/** The frame's rights: a link opens in a new tab. Without allow-scripts and allow-same-origin. */
export const FRAME_RIGHTS = "allow-popups allow-popups-to-escape-sandbox"

/** @param {string} text a whole HTML page @returns {Document} which loads nothing and runs nothing */
export const parsePage = text => new DOMParser().parseFromString(policy.createHTML(text), "text/html")

/** Shows a parsed page in a sandboxed frame. @param {HTMLIFrameElement} frame @param {Document} page */
export const showPage = (frame, page) => {
  frame.setAttribute("sandbox", FRAME_RIGHTS)
  frame.srcdoc = policy.createHTML(`<!DOCTYPE html>${page.documentElement.outerHTML}`)
}
