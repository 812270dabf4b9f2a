// The buttons of a bulk change that ask first: to commit it, and to cancel it.
import { post } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { memberJobs as t } from "../lib/texts_members.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { Confirm, TextField } from "../ui/parts.js"

/** A removal needs the number of members typed. */
const RemoveDialog = ({ count, running, onConfirm, onClose }) => {
  const [typed, setTyped] = useState("")
  const isRight = typed.replace(/[\s,.]/g, "") === String(count)
  return html`<${FormDialog} title=${t.commitTitle.remove(count)} action=${t.commit.remove(count)} kind="danger" isReady=${isRight} running=${running}
    known=${t.moved} submit=${onConfirm} onClose=${onClose}>
    <ul>${t.commitHint.remove.map(line => html`<li>${line}</li>`)}</ul>
    <${TextField} label=${t.type(count)} inputmode="numeric" autocomplete="off" required value=${typed} onInput=${setTyped} /><//>`
}

const ChangeDialog = ({ action, count, running, onConfirm, onClose }) => html`
  <${FormDialog} title=${t.commitTitle[action](count)} action=${t.commit[action](count)} running=${running} known=${t.moved} submit=${onConfirm}
    onClose=${onClose}><ul>${t.commitHint[action].map(line => html`<li>${line}</li>`)}</ul><//>`

export const CommitButton = ({ job, refresh }) => {
  const [asks, ask] = useState(false)
  const running = useAction()
  const count = job.preview.changed
  const commit = () => running.run(async () => {
    await post(`/v1/member-jobs/${job.id}/commit`)
    await refresh()
  })
  const close = () => {
    ask(false)
    if (running.error) refresh()
  }
  const Asked = job.action === "remove" ? RemoveDialog : ChangeDialog
  return html`<button type="button" class=${job.action === "remove" ? "danger" : "primary"} disabled=${count === 0} onClick=${() => ask(true)}>
      ${t.commit[job.action](count)}</button>
    ${asks && html`<${Asked} action=${job.action} count=${count} running=${running} onConfirm=${commit} onClose=${close} />`}`
}

export const CancelButton = ({ job, refresh }) => {
  const [asks, ask] = useState(false)
  const running = useAction()
  const isRunning = job.state === "committing"
  const label = isRunning ? t.stop : t.cancel
  const cancel = () => running.run(async () => {
    await post(`/v1/member-jobs/${job.id}/cancel`)
    await refresh()
    ask(false)
  })
  return html`<button type="button" class=${isRunning ? "danger" : ""} onClick=${() => ask(true)}>${label}</button>
    ${asks && html`<${Confirm} title=${isRunning ? t.stopTitle : t.cancelTitle} action=${label} isBusy=${running.isBusy} error=${running.error}
      onConfirm=${cancel} onClose=${() => ask(false)}><p>${isRunning ? t.stopHint : t.cancelHint}</p><//>`}`
}
