// The download of an import's error report. A very large report has several parts.
import { saveText } from "../lib/copy.js"
import { wholeFile } from "../lib/download.js"
import { useAction } from "../lib/load.js"
import { imports as t } from "../lib/texts_imports.js"
import { html } from "../lib/view.js"
import { ErrorBox } from "../ui/parts.js"

const NEXT = { parameter: "after", header: "X-Next-After" }

const download = async job => saveText(`errors-${job.file_name.replace(/\.[^.]*$/, "")}.csv`,
  await wholeFile(`/v1/imports/${job.id}/error-report`, {}, NEXT))

export const Report = ({ job }) => {
  const loading = useAction()
  return html`<button type="button" disabled=${loading.isBusy} onClick=${() => loading.run(() => download(job))}>${t.report}</button>
    <${ErrorBox} error=${loading.error} />`
}
