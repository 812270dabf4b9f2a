// The button that cancels an import before its commit.
import { post } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useState } from "../lib/view.js"
import { Confirm } from "../ui/parts.js"

export const CancelButton = ({ job, onDone }) => {
  const [asks, ask] = useState(false)
  const canceling = useAction()
  const cancel = () => canceling.run(async () => {
    await post(`/v1/imports/${job.id}/cancel`)
    await onDone()
    ask(false)
  })
  return html`<button type="button" class="danger" onClick=${() => ask(true)}>${t.cancel}</button>
    ${asks && html`<${Confirm} title=${t.cancelTitle} action=${t.cancel} isBusy=${canceling.isBusy} error=${canceling.error}
      onConfirm=${cancel} onClose=${() => ask(false)}><p>${t.cancelHint}</p><//>`}`
}
