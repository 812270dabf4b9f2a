// The page to which a provider of external data sends an admin back: it shows "#/connections?result=…&reason=…" as a
// sentence (docs/external-data.md "Connecting"). The address only selects one of the texts. It is never shown itself,
// because anyone can create a link to this page.
import { own } from "../lib/own.js"
import { format, route } from "../lib/router.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { connecting as t } from "../lib/texts_connections.js"
import { html, useEffect, useRef } from "../lib/view.js"

const KINDS = { connected: "good", denied: "error", failed: "error" }

export default () => {
  const { query } = useStore(route)
  const { seats } = useStore(session)
  const place = useRef(null)
  const sentence = own(t.results, query.result) ?? t.none
  const advice = query.result === "failed" ? own(t.reasons, query.reason) : undefined
  useEffect(() => {
    document.title = `${sentence} – Muster`
    place.current.focus()
  }, [sentence])
  return html`<h1>${t.title}</h1>
    <p id="result" class="box ${own(KINDS, query.result) ?? ""}" role="status" tabindex="-1" ref=${place}>${sentence}</p>
    <p id="advice">${advice}</p>
    ${seats.length === 0 && html`<p><a href="#/">${t.back}</a></p>`}
    <ul class="plain-list">${seats.map(seat => html`<li><a href=${format(seat.organization_id, ["connections"])}>${t.show(seat.name)}</a></li>`)}</ul>`
}
