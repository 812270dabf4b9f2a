// Parts that several screens of articles use.
import { createStore } from "../lib/store.js"
import { articles as t } from "../lib/texts_articles.js"
import { html } from "../lib/view.js"
import { Badge } from "../ui/parts.js"

const KINDS = { draft: "plain", scheduled: "warn", published: "good" }

export const StateBadge = ({ status }) => html`<${Badge} kind=${KINDS[status]}>${t.states[status] ?? status}<//>`

/** What the sanitizer changed when an article was last saved: the article's id, and the lines that differ. */
export const lastSaved = createStore({ id: "", sent: [], stored: [] })

/** The lines of a text that another text does not have. */
export const linesOnlyIn = (text, other) => {
  const known = new Set(other.split("\n").map(line => line.trim()))
  return text.split("\n").map(line => line.trim()).filter(line => line && !known.has(line))
}

/** Remembers what differs between the text that was sent and the article that is stored. @returns {boolean} whether something does */
export const rememberSaved = (text, { id, body_html }) => {
  const [sent, stored] = [linesOnlyIn(text, body_html), linesOnlyIn(body_html, text)]
  lastSaved.set({ id, sent, stored })
  return sent.length + stored.length > 0
}

export const forgetSaved = () => lastSaved.set({ id: "", sent: [], stored: [] })
