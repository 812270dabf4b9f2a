// The preview of a creative. The console loads nothing from other servers, so a picture is a text and a link.
import { texts } from "../lib/texts.js"
import { creatives as t } from "../lib/texts_ads.js"
import { parsePage } from "../lib/trusted.js"
import { html, useMemo } from "../lib/view.js"
import { PageFrame, withoutPictures } from "../ui/page_frame.js"
import { Dialog } from "../ui/parts.js"
import { sizeOf } from "./parts.js"

const Html = ({ creative }) => {
  const { page, pictures } = useMemo(() => {
    const parsed = parsePage(creative.html)
    return { pictures: withoutPictures(parsed, t.picture), page: parsed }
  }, [creative.html])
  return html`<${PageFrame} page=${page} kind="preview small" title=${t.previewTitle(sizeOf(creative))} />
    ${pictures > 0 && html`<p class="hint">${t.somePictures}</p>`}`
}

/** The outline of the picture in its proportions. */
const Picture = ({ creative }) => html`<svg class="outline" role="img" aria-label=${t.picture(creative.alt ?? "")}
    viewBox=${`0 0 ${creative.width} ${creative.height}`} width=${creative.width}>
    <rect width="100%" height="100%" /></svg>
  <p>${creative.alt ?? ""}</p><p>${t.noPicture} <a href=${creative.image_url} target="_blank" rel="noopener noreferrer">${creative.image_url}</a></p>`

export const CreativePreview = ({ creative, onClose }) => html`<${Dialog} isWide=${true} title=${t.previewTitle(sizeOf(creative))} onClose=${onClose}>
  ${creative.kind === "html" ? html`<${Html} creative=${creative} />` : html`<${Picture} creative=${creative} />`}
  <p>${t.leadsTo} <a href=${creative.landing_url} target="_blank" rel="noopener noreferrer">${creative.landing_url}</a></p>
  <div class="actions"><button type="button" onClick=${onClose}>${texts.parts.close}</button></div><//>`
