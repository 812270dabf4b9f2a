// The form of an article: its fields, and the text with buttons that insert HTML.
import { useConflict } from "../lib/conflict.js"
import { faultsAt, otherFaults } from "../lib/faults.js"
import { useFaultyField } from "../lib/faulty.js"
import { own } from "../lib/own.js"
import { texts } from "../lib/texts.js"
import { articles as t } from "../lib/texts_articles.js"
import { html, useRef, useState } from "../lib/view.js"
import { CopyButton, ErrorBox, Field, TextField } from "../ui/parts.js"
import { TOOLS, caretIn, tagsOf } from "./fields.js"

const LIMITS = { title: 255, slug: 128, excerpt: 1000, locale: 35, author: 255, cover_url: 2048 }
const BELOW = ["excerpt", "locale", "tags", "author", "cover_url"]

/** Replaces the selected text. The browser's own command keeps the steps of "undo". */
const insert = (area, make) => {
  const { selectionStart, selectionEnd, value } = area
  const made = make(value.slice(selectionStart, selectionEnd))
  area.focus()
  if (!document.execCommand("insertText", false, made)) {
    area.setRangeText(made, selectionStart, selectionEnd, "end")
    area.dispatchEvent(new Event("input", { bubbles: true }))
  }
  const caret = selectionStart + caretIn(made)
  area.setSelectionRange(caret, caret)
}

const HtmlField = ({ value, error, mayChange, onInput }) => {
  const area = useRef(null)
  return html`<div class="html">
    ${mayChange && html`<div class="actions" role="group" aria-label=${t.toolbar}>${Object.entries(TOOLS).map(([name, make]) => html`
      <button type="button" class="small" onClick=${() => insert(area.current, make)}>${t.tools[name]}</button>`)}</div>`}
    <${Field} label=${t.fields.body_html} hint=${t.hints.body_html} error=${error}>${attributes => html`
      <textarea ...${attributes} ref=${area} rows="16" spellcheck="true" readonly=${!mayChange} value=${value} onInput=${event => onInput(event.target.value)} />`}<//></div>`
}

/** Whether the message about a path, such as "tags[1]", is next to its field. */
const isShown = path => own(t.fields, path.split("[")[0]) !== undefined

/** mayChange: without it, the form shows and copies what was typed. */
export const ArticleForm = ({ fields, setFields, saving, action, record, mayChange, onSubmit, onReload }) => {
  const [sentTags, keepTags] = useState("") // the faults of a reply have their indexes
  const faultOf = name => faultsAt(saving.error, name, name === "tags" ? tagsOf(sentTags) : [])
  const field = name => html`<${TextField} label=${t.fields[name]} hint=${t.hints[name]} maxlength=${LIMITS[name]} readonly=${!mayChange} value=${fields[name]}
    required=${name === "title" || name === "slug"} error=${faultOf(name)} onInput=${text => setFields({ ...fields, [name]: text })} />`
  const submit = event => {
    event.preventDefault()
    keepTags(fields.tags)
    onSubmit()
  }
  useFaultyField(saving.error, ".article")
  const messages = useConflict(saving.error, t.errors, record)
  const error = saving.error ?? (mayChange ? null : { code: "FORBIDDEN" })
  const isConflict = error?.code === "PRECONDITION_FAILED"
  return html`<form class="article" onSubmit=${submit}>
    ${field("title")}${field("slug")}
    <${HtmlField} value=${fields.body_html} error=${faultOf("body_html")} mayChange=${mayChange}
      onInput=${text => setFields({ ...fields, body_html: text })} />
    <div class="columns">${BELOW.map(field)}</div>
    <${ErrorBox} error=${otherFaults(error, isShown)} known=${messages} />
    <div class="actions">${(isConflict || !mayChange) && html`<${CopyButton} text=${fields.body_html} label=${t.copyText} />`}
      ${isConflict ? html`<button type="button" class="primary" onClick=${onReload}>${t.reload}</button>`
        : mayChange && html`<button class="primary" disabled=${saving.isBusy}>${action ?? texts.parts.save}</button>`}</div></form>`
}
