// The fields of an article: between the record of the API and the form.
import { trimmed } from "../lib/text.js"

const TEXTS = ["title", "slug", "excerpt", "locale", "author", "cover_url", "body_html"]
const CLEARABLE = new Set(["excerpt", "locale", "author", "cover_url"])

/**
 * The form of a record; without one, an empty form.
 * @param {Record<string, any>} article @returns {Record<string, string>}
 */
export const fieldsOf = (article = {}) => ({
  ...Object.fromEntries(TEXTS.map(name => [name, article[name] ?? ""])),
  tags: (article.tags ?? []).join(", "),
})

export const tagsOf = text => text.split(",").map(trimmed).filter(Boolean)

/** The body of a POST: optional fields that are empty are left out. @returns {any} */
export const newArticleOf = fields => ({
  ...Object.fromEntries(TEXTS.filter(name => fields[name] !== "" || !CLEARABLE.has(name)).map(name => [name, fields[name]])),
  tags: tagsOf(fields.tags),
})

/**
 * What differs between the record and the form, as the body of a PATCH.
 * @param {Api.Article} article @param {Record<string, string>} fields @returns {Api.ArticleChange}
 */
export const changesOf = (article, fields) => {
  const before = fieldsOf(article)
  const changed = TEXTS.filter(name => before[name] !== fields[name])
  const body = Object.fromEntries(changed.map(name => [name, fields[name] === "" && CLEARABLE.has(name) ? null : fields[name]]))
  return before.tags === fields.tags ? body : { ...body, tags: tagsOf(fields.tags) }
}

/** The form after a save: what was typed since it was sent stays. Without `sent`, all fields are those of the record. */
export const keptFields = (loaded, now, sent) => Object.fromEntries(Object.entries(loaded)
  .map(([name, value]) => [name, sent && now[name] !== sent[name] ? now[name] : value]))

const escaped = text => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")
const listItems = text => text.split("\n").filter(line => line.trim()).map(line => `  <li>${line.trim()}</li>`)

/** What the buttons above the text make of the selected text. @type {Record<string, (text: string) => string>} */
export const TOOLS = {
  heading: text => `<h2>${text}</h2>`,
  paragraph: text => `<p>${text}</p>`,
  bold: text => `<strong>${text}</strong>`,
  italic: text => `<em>${text}</em>`,
  link: text => (/^https?:\/\/\S+$/.test(text) ? `<a href="${escaped(text)}">${escaped(text)}</a>` : `<a href="https://">${text}</a>`),
  list: text => ["<ul>", ...(text.trim() ? listItems(text) : ["  <li></li>"]), "</ul>"].join("\n"),
  quote: text => `<blockquote><p>${text}</p></blockquote>`,
  picture: text => (/^https:\/\/\S+$/.test(text) ? `<img src="${escaped(text)}" alt="">` : `<img src="https://" alt="${escaped(text)}">`),
}

/** Where a person continues in the HTML of a button: in its empty address or element, otherwise behind it. @param {string} made */
export const caretIn = made => {
  const gap = /https:\/\/(?=")|<\w+>(?=<\/)/.exec(made)
  return gap ? gap.index + gap[0].length : made.length
}

/** A moment in the browser's time zone, as an input of type datetime-local has it. */
export const localTimeOf = text => {
  if (!text) return ""
  const at = new Date(text)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
