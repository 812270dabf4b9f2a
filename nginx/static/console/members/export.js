// The link that downloads the members of a list as CSV. One answer holds up to 10,000 members.
import { saveText } from "../lib/copy.js"
import { wholeFile } from "../lib/download.js"
import { members as t } from "../lib/texts_members.js"
import { html, useState } from "../lib/view.js"
import { withLabels } from "./faults.js"

const NEXT = { parameter: "cursor", header: "X-Next-Cursor" }

const download = async (filters, onCount) => saveText("members.csv",
  await wholeFile("/v1/users/export", { ...filters, order: undefined }, NEXT, onCount))

/** exporting: the useAction of the download. The screen shows its error. */
export const Export = ({ filters, exporting }) => {
  const [pages, setPages] = useState(0)
  const start = () => {
    setPages(0)
    exporting.run(() => download(filters, setPages).catch(async error => { throw await withLabels(error) }))
  }
  return html`<button type="button" disabled=${exporting.isBusy} onClick=${start}>
    ${exporting.isBusy ? t.exporting(pages) : t.export}</button>`
}
