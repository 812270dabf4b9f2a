// The dialog with a form: a question, or the fields of a record.
import { useConflict } from "../lib/conflict.js"
import { otherFaults } from "../lib/faults.js"
import { texts } from "../lib/texts.js"
import { useTyped, useUnsaved } from "../lib/unsaved.js"
import { html, useId } from "../lib/view.js"
import { Dialog, ErrorBox } from "./parts.js"

const Typed = ({ values, isSent }) => void useTyped(values, isSent)
const Unstored = () => void useUnsaved(true, "secret")

/**
 * `values`: of the fields, undefined until they are loaded; a changed one makes the dialog ask before it closes.
 * `record`: the one that it changes, as it was read. `running` is the useAction of its submit. `onReload` shows the current
 * record after a conflict of If-Match; without it, the person can only repeat or cancel. `known`: messages of error codes. `isShown`: whether the message about a path is next to
 * its field. `nameOf`: what the value at another path is called. `kind`: "primary", or "danger" for what cannot be undone: without fields, the focus begins on Cancel then.
 * `mustStay`: the dialog cannot be closed while the action runs, because its reply has a secret that is shown once.
 */
export const FormDialog = ({ title, action, kind = "primary", isWide, isReady = true, values, record, running, known, isShown = () => false, nameOf, mustStay = false, submit, onClose,
  onReload, reloadText = texts.parts.showCurrent, children }) => {
  const send = event => {
    event.preventDefault()
    submit()
  }
  const isConflict = running.error?.code === "PRECONDITION_FAILED" && onReload
  const isHeld = mustStay && running.isBusy
  const isDanger = kind === "danger"
  const messages = useConflict(running.error, known, record)
  const id = useId()
  return html`<${Dialog} title=${title} isWide=${isWide} onClose=${isHeld ? null : onClose}>
    <${Typed} values=${values} isSent=${running.isBusy} />${isHeld && html`<${Unstored} />`}<form onSubmit=${send}>
    ${isDanger ? html`<div id=${id}>${children}</div>` : children}
    <${ErrorBox} error=${otherFaults(running.error, isShown, nameOf)} known=${messages} />
    <div class="actions">${isConflict
      ? html`<button type="button" class="primary" onClick=${() => { onClose(); onReload() }}>${reloadText}</button>`
      : html`<button class=${kind} disabled=${running.isBusy || !isReady}>${action}</button>`}
      <button type="button" aria-describedby=${isDanger ? id : undefined} disabled=${isHeld} onClick=${onClose}>${texts.parts.cancel}</button></div></form><//>`
}

/** A secret that is shown once. stored: the text of the button that closes the dialog; every other way asks first. */
export const SecretDialog = ({ title, hint, stored, onClose, children }) => html`<${Dialog} title=${title} onClose=${onClose}><${Unstored} />
  <p>${hint}</p>${children}
  <div class="actions"><button type="button" class="primary" onClick=${onClose}>${stored}</button></div><//>`
