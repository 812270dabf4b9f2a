// One article: its state, the form, the preview, and what an admin can do with it.
import { announce } from "../lib/announce.js"
import { call } from "../lib/api.js"
import { useDialog } from "../lib/dialog.js"
import { formatTime } from "../lib/format.js"
import { isolate } from "../lib/isolate.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { articles as t } from "../lib/texts_articles.js"
import { useUnsaved } from "../lib/unsaved.js"
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/view.js"
import { Facts, Loaded, Title } from "../ui/parts.js"
import { Delete, Publish, Unpublish } from "./dialogs.js"
import { changesOf, fieldsOf, keptFields } from "./fields.js"
import { ArticleForm } from "./form.js"
import { useLivePreview } from "./live.js"
import { StateBadge, forgetSaved, lastSaved, rememberSaved } from "./parts.js"
import { Preview } from "./preview.js"

const DIALOGS = { publish: Publish, unpublish: Unpublish, delete: Delete }
const MOST_LINES = 10 // of the text that was not kept

/** The dialogs of a state, and the texts of their buttons. @param {Api.Article["status"]} status */
export const actionsOf = status => [
  ...(status === "published" ? [] : [["publish", status === "scheduled" ? t.actions.move : t.actions.publish]]),
  ...(status === "draft" ? [] : [["unpublish", status === "scheduled" ? t.actions.draft : t.actions.unpublish]]),
  ["delete", t.actions.delete],
]

let loads = 0 // each load fills the form again, also if the sanitizer took all of a change away

const load = async (id, signal) => {
  const { data, headers } = await call("GET", `/console/v1/articles/${id}`, { signal })
  loads += 1
  return { article: data, etag: headers.get("ETag"), number: loads }
}

const Lines = ({ title, lines }) => html`<h3>${title}</h3><pre tabindex="0" role="region" aria-label=${title}>${[...lines.slice(0, MOST_LINES),
  ...(lines.length > MOST_LINES ? [t.moreLines(lines.length - MOST_LINES)] : [])].join("\n") || t.nothing}</pre>`

/** What the sanitizer changed. It goes when the person leaves the article. */
const Kept = ({ id }) => {
  const saved = useStore(lastSaved)
  useEffect(() => () => forgetSaved(), [])
  if (saved.id !== id || saved.sent.length + saved.stored.length === 0) return null
  return html`<div class="box warning"><p>${t.differs}</p>
    <${Lines} title=${t.sentLines} lines=${saved.sent} /><${Lines} title=${t.storedLines} lines=${saved.stored} />
    <button type="button" onClick=${forgetSaved}>${t.close}</button></div>`
}

/** @param {{ article: Api.Article }} props */
const State = ({ article }) => html`<${Facts} pairs=${[
  [t.stateOf, html`<${StateBadge} status=${article.status} />`],
  [t.publishedAt, article.published_at ? formatTime(article.published_at) : undefined],
  [t.publishAt, article.publish_at ? formatTime(article.publish_at) : undefined],
  [t.by, article.created_by_email ?? t.operator], [t.updated, formatTime(article.updated_at)]]} />`

/** What a viewer sees instead of the form. An admin who becomes a viewer keeps a changed form, and can copy its text. */
const Values = ({ article }) => html`<${Facts} pairs=${["slug", "excerpt", "locale", "author", "cover_url"].map(name => [t.fields[name], article[name]])
  .concat([[t.fields.tags, article.tags.map(isolate).join(", ")]])} />`

const Article = ({ article, etag, number, role, isLoading, reload }) => {
  const [fields, setFields] = useState(fieldsOf(article))
  const { dialog, ask, close } = useDialog()
  const sent = useRef(null) // the fields of the last save, until it is loaded
  const saving = useAction()
  const open = useOpen()
  useLayoutEffect(() => {
    setFields(keptFields(fieldsOf(article), fields, sent.current))
    sent.current = null
    saving.clear()
  }, [number])
  const isViewer = role === "viewer"
  const live = useLivePreview(fields, fieldsOf(article), !isViewer)
  const body = changesOf(article, fields)
  const isChanged = Object.keys(body).length > 0
  useUnsaved(isChanged && !saving.isBusy)
  const save = () => saving.run(async () => {
    const { data } = await call("PATCH", `/console/v1/articles/${article.id}`, { body, headers: { "If-Match": etag } })
    sent.current = fields
    announce(rememberSaved(fields.body_html, data) ? t.savedPartly : t.saved)
    await reload()
  })
  const done = async text => {
    await reload()
    close()
    announce(text)
  }
  const deleted = text => {
    announce(text)
    open(["articles"])
  }
  const Asked = DIALOGS[dialog?.action]
  return html`<${Title} text=${article.title} actions=${!isViewer && actionsOf(article.status).map(([name, text]) => html`
      <button type="button" class=${name === "delete" ? "danger" : ""} disabled=${isChanged || isLoading} onClick=${() => ask({ action: name })}>${text}</button>`)} />
    ${!isViewer && html`<p class="faint" role="status"><span class=${isChanged ? "" : "unseen"}>${t.saveFirst}</span></p>`}
    <${State} article=${article} />
    <div class="halves">
      <section><h2>${t.text}</h2>${isViewer && !isChanged ? html`<${Values} article=${article} />` : html`
        <${ArticleForm} fields=${fields} setFields=${setFields} saving=${{ ...saving, isBusy: saving.isBusy || isLoading }} record=${article} mayChange=${!isViewer} onSubmit=${save} onReload=${reload} />`}</section>
      <${Preview} article=${article} etag=${etag} live=${live} />
    </div>
    ${Asked && html`<${Asked} article=${article} etag=${etag} onDone=${done} onDeleted=${deleted} onReload=${reload} onClose=${close} />`}`
}

export default ({ id, role }) => {
  const state = useLoad(signal => load(id, signal), [id])
  return html`<p><a href=${address(["articles"])}>${t.back}</a></p><${Kept} id=${id} />
    <${Loaded} state=${state} title=${texts.screens.article}>${({ article, etag, number }) => html`
      <${Article} article=${article} etag=${etag} number=${number} role=${role}
        isLoading=${state.isLoading || state.error !== null} reload=${state.reload} />`}<//>`
}
