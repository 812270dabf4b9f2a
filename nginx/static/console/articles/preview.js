// The preview of an article in a frame without scripts: the stored article, or what is typed as it would be stored.
import { get } from "../lib/api.js"
import { useLoad } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { articles as t } from "../lib/texts_articles.js"
import { parsePage } from "../lib/trusted.js"
import { html, useMemo, useRef } from "../lib/view.js"
import { PageFrame, withoutPictures } from "../ui/page_frame.js"
import { Loaded } from "../ui/parts.js"

const MOST_PARTS = 10 // of what is dropped

const load = async (article, etag, signal) => {
  if (!article) return null
  const page = parsePage(await get(`/console/v1/articles/${article.id}/preview`, undefined, signal))
  return { pictures: withoutPictures(page, t.picture), page, title: article.title, etag }
}

/** The page of an article that is not stored, like that of the API. `body_html` is the server's, and sanitized. */
const pageOf = ({ title, locale, cover_url }, body_html) => {
  const page = parsePage(body_html)
  page.documentElement.lang = locale
  page.title = title
  const heading = page.createElement("h1")
  heading.textContent = title
  page.body.prepend(heading)
  if (cover_url) {
    const cover = page.createElement("img")
    cover.setAttribute("src", cover_url)
    heading.after(cover)
  }
  return { pictures: withoutPictures(page, t.picture), page, title }
}

/**
 * The page to show: what is typed, else the stored article. After a save, what was typed stays until the stored article is loaded.
 * @returns {{ stored: any, shown: any }} stored: the loading of the stored article
 */
const usePage = (article, etag, typed) => {
  const stored = useLoad(signal => load(article, etag, signal), [article?.id, etag])
  const typedPage = useMemo(() => typed && pageOf(typed.fields, typed.body_html), [typed])
  const shown = useRef(/** @type {any} */ (null))
  const isLoaded = !article || stored.error || stored.data?.etag === etag
  if (typedPage || isLoaded) shown.current = typedPage ?? stored.data
  return { stored, shown: shown.current }
}

const Page = ({ pictures, page, title }) => html`<${PageFrame} page=${page} title=${t.previewOf(title)} />
  ${pictures > 0 && html`<p class="hint">${t.noPictures(pictures)}</p>`}`

/** Lines on what the sanitizer drops, and how many parts they leave out. @returns {{ lines: string[], more: number }} */
export const dropLines = ({ dropped, dropped_count }) => {
  const shown = dropped.slice(0, MOST_PARTS)
  return { lines: shown.map(t.droppedPart), more: dropped_count - shown.reduce((sum, part) => sum + part.count, 0) }
}

const Dropped = ({ shown }) => {
  const { lines, more } = dropLines(shown)
  return html`<ul class="faint">${lines.map(line => html`<li>${line}</li>`)}${more > 0 && html`<li>${t.moreParts(more)}</li>`}</ul>`
}

/** Why the server sent no preview. */
const reasonOf = error => (error.fields?.body_html ? `${t.fields.body_html}: ${error.fields.body_html}` : texts.errors[error.code] ?? error.message)

const stateOf = ({ isChanged, shown, error }, isStored) => {
  if (!isChanged) return isStored ? "" : t.previewEmpty
  if (error) return `${t.previewFailed(reasonOf(error))}${isStored ? ` ${t.previewStored}` : ""}`
  return shown ? t.previewChanged(shown.dropped_count) : t.previewWaits
}

/**
 * article: without one, the article is new. live: of useLivePreview(), for a person who may change the article.
 * @param {{ article?: any, etag?: string, live?: any }} props
 */
export const Preview = ({ article, etag, live = { isChanged: false } }) => {
  const { stored, shown } = usePage(article, etag, live.shown)
  return html`<section><h2>${t.preview}</h2>
    <p class="faint" role="status">${stateOf(live, Boolean(article))}</p>
    ${live.error && html`<p><button type="button" onClick=${live.retry}>${texts.parts.tryAgain}</button></p>`}
    ${live.shown?.dropped_count > 0 && html`<${Dropped} shown=${live.shown} />`}
    ${shown && html`<${Page} ...${shown} />`}
    ${!shown && article && html`<${Loaded} state=${stored}>${() => null}<//>`}</section>`
}
