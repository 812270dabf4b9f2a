import assert from "node:assert/strict"
import test from "node:test"
import { actionsOf } from "../console/articles/article.js"
import { caretIn, changesOf, fieldsOf, keptFields, localTimeOf, newArticleOf, tagsOf, TOOLS } from "../console/articles/fields.js"
import { shortNameOf, slugOf } from "../console/lib/slug.js"
import { looksLike, makePreviewing } from "../console/articles/live.js"
import { withSlug } from "../console/articles/new.js"
import { linesOnlyIn } from "../console/articles/parts.js"
import { dropLines } from "../console/articles/preview.js"

const RECORD = { title: "Final", slug: "final", excerpt: "Soon", locale: null, author: null, cover_url: null, body_html: "<p>a</p>", tags: ["cup", "news"] }

test("an article is sent without empty optional fields, and its text may be empty", () => {
  assert.deepEqual(newArticleOf({ ...fieldsOf(), title: "A", slug: "a", tags: "cup, , news" }),
    { title: "A", slug: "a", body_html: "", tags: ["cup", "news"] })
})

test("only what differs is sent, and null clears an optional field", () => {
  const fields = fieldsOf(RECORD)
  assert.deepEqual(changesOf(RECORD, fields), {})
  assert.deepEqual(changesOf(RECORD, { ...fields, excerpt: "", body_html: "", tags: "cup" }), { excerpt: null, body_html: "", tags: ["cup"] })
})

test("what was typed while an article was saved stays in the form", () => {
  const sent = { title: "Final", excerpt: "Soon" }
  const loaded = { title: "Final", excerpt: "Soon, cleaned" }
  assert.deepEqual(keptFields(loaded, { title: "Final!", excerpt: "Soon" }, sent), { title: "Final!", excerpt: "Soon, cleaned" })
  assert.deepEqual(keptFields(loaded, { title: "Final!", excerpt: "Soon" }, null), loaded)
})

test("tags are separated by commas", () => {
  assert.deepEqual(tagsOf(" a,b ,, c d "), ["a", "b", "c d"])
  assert.deepEqual(tagsOf(""), [])
})

test("a short name has the letters of the title without accents", () => {
  assert.equal(slugOf(" Fußball & Café: 2:1! "), "fussball-cafe-2-1")
  assert.equal(slugOf("日本"), "")
  assert.equal(slugOf("a".repeat(200)).length, 128)
})

test("the short name of a module or a slot begins with a letter, and an empty name suggests none", () => {
  assert.deepEqual(["Club shop", "1st shop", "é", "!", "x".repeat(80)].map(name => shortNameOf(name, "module")),
    ["club-shop", "module-1st-shop", "module-e", "module", "x".repeat(63)])
  assert.deepEqual(["728 × 90", "a", " ", ""].map(name => shortNameOf(name, "slot")), ["slot-728-90", "slot-a", "", ""])
})

test("the short name follows the title until the person writes one", () => {
  const empty = fieldsOf()
  const titled = withSlug(empty, { ...empty, title: "Cup final" })
  assert.equal(titled.slug, "cup-final")
  const named = withSlug(titled, { ...titled, slug: "final" })
  assert.equal(named.slug, "final")
  assert.equal(withSlug(named, { ...named, title: "Cup" }).slug, "final")
})

test("the buttons put elements around the selected text", () => {
  assert.equal(TOOLS.bold("now"), "<strong>now</strong>")
  assert.equal(TOOLS.list("a\n\n b "), "<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>")
  assert.equal(TOOLS.link("https://a.example/?b=1&c"), '<a href="https://a.example/?b=1&amp;c">https://a.example/?b=1&amp;c</a>')
  assert.equal(TOOLS.link("shop"), '<a href="https://">shop</a>')
  assert.equal(TOOLS.picture('a "cup"'), '<img src="https://" alt="a &quot;cup&quot;">')
})

test("a person continues in the gap of what a button inserts", () => {
  const continued = made => `${made.slice(0, caretIn(made))}|${made.slice(caretIn(made))}`
  assert.equal(continued(TOOLS.bold("")), "<strong>|</strong>")
  assert.equal(continued(TOOLS.bold("now")), "<strong>now</strong>|")
  assert.equal(continued(TOOLS.link("shop")), '<a href="https://|">shop</a>')
  assert.equal(continued(TOOLS.list("")), "<ul>\n  <li>|</li>\n</ul>")
  assert.equal(continued(TOOLS.quote("")), "<blockquote><p>|</p></blockquote>")
  assert.equal(continued(TOOLS.quote("now")), "<blockquote><p>now</p></blockquote>|")
})

test("lines that the other text does not have are found", () => {
  const sent = "<p>a</p>\n<script>x()</script>\n  <p onclick=\"x()\">b</p>"
  const stored = "<p>a</p>\n\n<p>b</p>"
  assert.deepEqual(linesOnlyIn(sent, stored), ["<script>x()</script>", "<p onclick=\"x()\">b</p>"])
  assert.deepEqual(linesOnlyIn(stored, sent), ["<p>b</p>"])
})

test("the server is asked only for a text that is neither stored nor the last one", async () => {
  const stored = fieldsOf(RECORD)
  const asked = []
  const preview = makePreviewing(stored, async text => {
    asked.push(text)
    if (text === "bad") throw new Error("busy")
    return { body_html: text.toUpperCase(), dropped: [], dropped_count: 0 }
  })
  const titled = { ...stored, title: "New" }
  assert.deepEqual(await preview(titled), { fields: titled, body_html: "<p>a</p>", dropped: [], dropped_count: 0 })
  const changed = { ...titled, body_html: "<b>" }
  assert.equal((await preview(changed)).body_html, "<B>")
  assert.equal((await preview({ ...changed, title: "Newer" })).body_html, "<B>")
  assert.deepEqual(asked, ["<b>"])
  for (let turn = 0; turn < 2; turn++) await assert.rejects(preview({ ...changed, body_html: "bad" }))
  assert.deepEqual(asked, ["<b>", "bad", "bad"])
})

test("the preview depends on what the site shows of an article", () => {
  const stored = fieldsOf(RECORD)
  assert.ok(looksLike(stored, { ...stored, tags: "x", slug: "x", excerpt: "x" }))
  assert.ok(!looksLike(stored, { ...stored, cover_url: "https://a.example/b" }))
})

test("what is dropped is listed with its line, and the rest is counted", () => {
  const part = (reason, count, element = null, attribute = null) => ({ reason, element, attribute, line: 2, count })
  const one = [part("content", 1, "script"), part("attribute", 3, "p", "onclick")]
  assert.deepEqual(dropLines({ dropped: one, dropped_count: 4 }),
    { lines: ["Line 2: <script> and everything in it", "Line 2: onclick of <p> (3 times)"], more: 0 })
  const many = Array.from({ length: 50 }, (_, index) => part("element", 2, `x-${index}`))
  const { lines, more } = dropLines({ dropped: many, dropped_count: 120 })
  assert.deepEqual([lines.length, more], [10, 100])
  for (const reason of ["element", "content", "attribute", "value", "address", "depth", "comment", "markup", "new_reason"]) {
    const [line] = dropLines({ dropped: [part(reason, 1, "a", "b")], dropped_count: 1 }).lines
    assert.ok(line.length > 8 && !line.includes("undefined"), line)
  }
})

test("each state has its actions", () => {
  assert.deepEqual(actionsOf("draft").map(([name]) => name), ["publish", "delete"])
  assert.deepEqual(actionsOf("scheduled").map(([name]) => name), ["publish", "unpublish", "delete"])
  assert.deepEqual(actionsOf("published").map(([name]) => name), ["unpublish", "delete"])
})

test("a time is shown in the time zone of the browser", () => {
  assert.equal(new Date(localTimeOf("2026-11-23T10:30:00.000Z")).toISOString(), "2026-11-23T10:30:00.000Z")
  assert.equal(localTimeOf(null), "")
})
