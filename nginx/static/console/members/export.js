// The link that downloads the members of a list as CSV. One answer holds up to 10,000 members.
import { call } from "../lib/api.js"
import { saveText } from "../lib/copy.js"
import { useAction } from "../lib/load.js"
import { route } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { html, useState } from "../lib/view.js"
import { ErrorBox } from "../ui/parts.js"

const t = texts.members

/** Downloads all pages of the organization in which it began, without the header line of the later ones. */
const download = async (filters, onCount) => {
  const headers = { "X-Organization": /** @type {string} */ (route.get().organization) }
  const parts = []
  let cursor
  do {
    const reply = await call("GET", "/v1/users/export", { query: { ...filters, order: undefined, cursor }, headers })
    parts.push(parts.length ? reply.data.slice(reply.data.indexOf("\r\n") + 2) : reply.data)
    cursor = reply.headers.get("X-Next-Cursor")
    onCount(parts.length)
  } while (cursor)
  saveText("members.csv", parts.join(""))
}

export const Export = ({ filters }) => {
  const exporting = useAction()
  const [pages, setPages] = useState(0)
  return html`<button type="button" disabled=${exporting.isBusy} onClick=${() => exporting.run(() => download(filters, setPages))}>
    ${exporting.isBusy ? t.exporting(pages) : t.export}</button><${ErrorBox} error=${exporting.error} />`
}
