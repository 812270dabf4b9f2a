// The dialogs of an article: publish, unpublish, delete. If-Match rejects them if another admin has changed the article.
import { call } from "../lib/api.js"
import { momentIn } from "../lib/format.js"
import { useAction } from "../lib/load.js"
import { articles as t } from "../lib/texts_articles.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { SelectField, TextField } from "../ui/parts.js"
import { localTimeOf } from "./fields.js"

/** @param {{ article: Api.Article, etag: string }} props @param {"POST" | "DELETE"} method @param {"" | "/publish" | "/unpublish"} [path] @param {any} [body] */
const send = ({ article, etag }, method, path = "", body = undefined) =>
  call(method, `/console/v1/articles/${article.id}${path}`, { body, headers: { "If-Match": etag } })

const Question = props => html`<${FormDialog} ...${props} known=${t.stateErrors} reloadText=${t.reload} />`

export const Publish = props => {
  const { article, onDone, onClose, onReload } = props
  const [when, setWhen] = useState(article.publish_at ? "later" : "now")
  const [time, setTime] = useState(localTimeOf(article.publish_at))
  const running = useAction()
  const isLater = when === "later"
  const submit = () => running.run(async () => {
    await send(props, "POST", "/publish", isLater ? { publish_at: momentIn(time) } : {})
    await onDone(isLater ? t.scheduled : t.published)
  })
  return html`<${Question} title=${(article.publish_at ? t.moveTitle : t.publishTitle)(article.title)} action=${isLater ? t.schedule : t.actions.publish} kind="primary" values=${[when, time]} running=${running}
    record=${article} isShown=${path => isLater && path === "publish_at"} submit=${submit} onClose=${onClose} onReload=${onReload}><p>${t.publishHint}</p>
    <${SelectField} label=${t.when} value=${when} onChange=${setWhen} options=${[["now", t.now], ["later", t.later]]} />
    ${isLater && html`<${TextField} label=${t.time} hint=${t.timeHint} type="datetime-local" required value=${time} onInput=${setTime}
      error=${running.error?.fields?.publish_at} />`}<//>`
}

export const Unpublish = props => {
  const { article, onDone, onClose, onReload } = props
  const running = useAction()
  const isScheduled = article.status === "scheduled"
  const submit = () => running.run(async () => {
    await send(props, "POST", "/unpublish")
    await onDone(t.unpublished)
  })
  return html`<${Question} title=${t.unpublishTitle(article.title)} action=${isScheduled ? t.actions.draft : t.actions.unpublish} kind="danger"
    record=${article} running=${running} submit=${submit} onClose=${onClose} onReload=${onReload}><p>${isScheduled ? t.unscheduleHint : t.unpublishHint}</p><//>`
}

export const Delete = props => {
  const { article, onDeleted, onClose, onReload } = props
  const running = useAction()
  const submit = () => running.run(async () => {
    await send(props, "DELETE")
    onDeleted(t.deleted(article.title))
  })
  return html`<${Question} title=${t.deleteTitle(article.title)} action=${t.actions.delete} kind="danger" record=${article} running=${running} submit=${submit}
    onClose=${onClose} onReload=${onReload}><p>${t.deleteHint} ${t.deleteStates[article.status]}</p><p>${t.deletePictures}</p><//>`
}
