// The dialog with a form: a question, or the fields of a record.
import { withoutFields } from "../lib/api.js"
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { Dialog, ErrorBox } from "./parts.js"

const t = texts.dialogs

/**
 * `running` is the useAction of its submit. `onReload` shows the current record after a conflict of If-Match; without it, the
 * person can only repeat or cancel. `known`: messages of error codes. `isShown`: whether the message about a path is next to
 * its field. `kind`: "primary", or "danger" for what cannot be undone. `mustStay`: the dialog cannot be closed while the action
 * runs, because its reply has a secret that is shown once.
 */
export const FormDialog = ({ title, action, kind = "primary", isWide, isReady = true, running, known, isShown = () => false, mustStay = false, submit, onClose,
  onReload, reloadText = texts.parts.showCurrent, children }) => {
  const send = event => {
    event.preventDefault()
    submit()
  }
  const isConflict = running.error?.code === "PRECONDITION_FAILED" && onReload
  const isHeld = mustStay && running.isBusy
  return html`<${Dialog} title=${title} isWide=${isWide} onClose=${isHeld ? () => {} : onClose}><form onSubmit=${send}>${children}
    <${ErrorBox} error=${withoutFields(running.error, isShown)} known=${{ PRECONDITION_FAILED: t.conflict, ...known }} />
    <div class="actions">${isConflict
      ? html`<button type="button" class="primary" onClick=${() => { onClose(); onReload() }}>${reloadText}</button>`
      : html`<button class=${kind} disabled=${running.isBusy || !isReady}>${action}</button>`}
      <button type="button" disabled=${isHeld} onClick=${onClose}>${texts.parts.cancel}</button></div></form><//>`
}
