// HTML of the API in a frame without scripts. The policy of the console applies in the frame too, so pictures are left out.
import { FRAME_RIGHTS, showPage } from "../lib/trusted.js"
import { html, useEffect, useRef } from "../lib/view.js"

/** Opens links in a new tab, and replaces pictures with texts. @param {(name: string) => string} textOf @returns {number} pictures */
export const withoutPictures = (page, textOf) => {
  for (const link of page.querySelectorAll("a[href]")) link.setAttribute("target", "_blank")
  const pictures = [...page.querySelectorAll("img")]
  for (const picture of pictures) picture.replaceWith(textOf(picture.alt || picture.getAttribute("src") || ""))
  return pictures.length
}

export const PageFrame = ({ page, title, kind = "preview" }) => {
  const frame = useRef(null)
  useEffect(() => showPage(frame.current, page), [page])
  return html`<iframe ref=${frame} class=${kind} sandbox=${FRAME_RIGHTS} title=${title}></iframe>`
}
