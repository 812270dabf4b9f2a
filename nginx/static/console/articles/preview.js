// The preview of an article: the page of the API in a frame without scripts.
import { get } from "../lib/api.js"
import { useLoad } from "../lib/load.js"
import { articles as t } from "../lib/texts_articles.js"
import { parsePage } from "../lib/trusted.js"
import { html } from "../lib/view.js"
import { PageFrame, withoutPictures } from "../ui/page_frame.js"
import { Loaded } from "../ui/parts.js"

const load = async (id, signal) => {
  const page = parsePage(await get(`/console/v1/articles/${id}/preview`, undefined, signal))
  return { pictures: withoutPictures(page, t.picture), page }
}

export const Preview = ({ article, etag, isOld }) => {
  const state = useLoad(signal => load(article.id, signal), [article.id, etag])
  return html`<section><h2>${t.preview}</h2>
    ${isOld && html`<p class="faint" role="status">${t.previewOld}</p>`}
    <${Loaded} state=${state}>${({ pictures, page }) => html`
      <${PageFrame} page=${page} title=${t.previewOf(article.title)} />
      ${pictures > 0 && html`<p class="hint">${t.noPictures(pictures)}</p>`}`}<//></section>`
}
