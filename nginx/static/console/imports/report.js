// The download of an import's error report. A very large report has several parts.
import { call } from "../lib/api.js"
import { saveText } from "../lib/copy.js"
import { useAction } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { ErrorBox } from "../ui/parts.js"

const download = async job => {
  const parts = []
  let after
  do {
    const { data, headers } = await call("GET", `/v1/imports/${job.id}/error-report`, { query: { after } })
    parts.push(parts.length ? data.slice(data.indexOf("\r\n") + 2) : data)
    after = headers.get("X-Next-After")
  } while (after)
  saveText(`errors-${job.file_name.replace(/\.[^.]*$/, "")}.csv`, parts.join(""))
}

export const Report = ({ job }) => {
  const loading = useAction()
  return html`<button type="button" disabled=${loading.isBusy} onClick=${() => loading.run(() => download(job))}>${texts.imports.report}</button>
    <${ErrorBox} error=${loading.error} />`
}
