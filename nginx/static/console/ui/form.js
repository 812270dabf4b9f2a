// A form in a dialog, and fields that several forms use.
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { Dialog, ErrorBox } from "./parts.js"

/**
 * saving: the action that `submit` runs. known: messages of error codes. onReload: shows the current record after a conflict of
 * If-Match; without it, the person can only cancel.
 */
export const FormDialog = ({ title, action, kind = "primary", isWide, saving, known, submit, onReload, onClose, children }) => {
  const send = event => {
    event.preventDefault()
    submit()
  }
  const isConflict = onReload && saving.error?.code === "PRECONDITION_FAILED"
  return html`<${Dialog} title=${title} isWide=${isWide} onClose=${onClose}><form onSubmit=${send}>${children}
    <${ErrorBox} error=${saving.error} known=${known} />
    <div class="actions">${isConflict
      ? html`<button type="button" class="primary" onClick=${onReload}>${texts.parts.showCurrent}</button>`
      : html`<button class=${kind} disabled=${saving.isBusy}>${action}</button>`}
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div></form><//>`
}
