// The preview of an article: the page of the API in a frame without scripts. The policy of the console applies in the frame too.
import { get } from "../lib/api.js"
import { useLoad } from "../lib/load.js"
import { articles as t } from "../lib/texts_articles.js"
import { FRAME_RIGHTS, parsePage, showPage } from "../lib/trusted.js"
import { html, useEffect, useRef } from "../lib/view.js"
import { Loaded } from "../ui/parts.js"

/** Replaces the pictures, which the policy would block, with their texts. @returns {number} how many */
const replacePictures = page => {
  const pictures = [...page.querySelectorAll("img")]
  for (const picture of pictures) picture.replaceWith(t.picture(picture.alt || picture.getAttribute("src") || ""))
  return pictures.length
}

const load = async (id, signal) => {
  const page = parsePage(await get(`/console/v1/articles/${id}/preview`, undefined, signal))
  for (const link of page.querySelectorAll("a[href]")) link.setAttribute("target", "_blank")
  return { pictures: replacePictures(page), page }
}

const Frame = ({ page, title }) => {
  const frame = useRef(null)
  useEffect(() => showPage(frame.current, page), [page])
  return html`<iframe ref=${frame} class="preview" sandbox=${FRAME_RIGHTS} title=${title}></iframe>`
}

export const Preview = ({ article, etag, isOld }) => {
  const state = useLoad(signal => load(article.id, signal), [article.id, etag])
  return html`<section><h2>${t.preview}</h2>
    ${isOld && html`<p class="faint" role="status">${t.previewOld}</p>`}
    <${Loaded} state=${state}>${({ pictures, page }) => html`
      <${Frame} page=${page} title=${t.previewOf(article.title)} />
      ${pictures > 0 && html`<p class="hint">${t.noPictures(pictures)}</p>`}`}<//></section>`
}
