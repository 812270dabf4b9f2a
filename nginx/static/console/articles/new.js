// A new article. It becomes a draft.
import { announce } from "../lib/announce.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { slugOf } from "../lib/slug.js"
import { articles as t } from "../lib/texts_articles.js"
import { useTyped } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { Title } from "../ui/parts.js"
import { fieldsOf, newArticleOf } from "./fields.js"
import { ArticleForm } from "./form.js"
import { useLivePreview } from "./live.js"
import { rememberSaved } from "./parts.js"
import { Preview } from "./preview.js"

/** The form after a change: the short name follows the title until the person writes one. */
export const withSlug = (before, after) =>
  (before.slug === slugOf(before.title) && after.slug === before.slug ? { ...after, slug: slugOf(after.title) } : after)

/** An admin who becomes a viewer keeps the form, and can copy its text. */
export default ({ role }) => {
  const [fields, setFields] = useState(fieldsOf())
  const mayChange = role !== "viewer"
  const live = useLivePreview(fields, fieldsOf(), mayChange)
  const saving = useAction()
  const make = useCreate()
  const open = useOpen()
  useTyped(fields, saving.isBusy)
  const create = () => saving.run(async () => {
    const article = await make("/console/v1/articles", newArticleOf(fields))
    announce(rememberSaved(fields.body_html, article) ? t.createdPartly : t.created)
    open(["articles", article.id])
  })
  return html`<p><a href=${address(["articles"])}>${t.back}</a></p><${Title} text=${t.newTitle} />
    <div class="halves">
      <section><h2>${t.text}</h2>
        <${ArticleForm} fields=${fields} setFields=${after => setFields(withSlug(fields, after))} saving=${saving} action=${t.create} mayChange=${mayChange} onSubmit=${create} /></section>
      <${Preview} live=${live} />
    </div>`
}
