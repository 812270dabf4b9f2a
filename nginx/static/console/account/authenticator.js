// Replacing the authenticator: a current code, the new secret, then a code of the new authenticator.
import { post, withoutFields } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { authenticator as t } from "../lib/texts_account.js"
import { html, useState } from "../lib/view.js"
import { AuthenticatorSecret } from "../access/qr_code.js"
import { Dialog, ErrorBox, TextField } from "../ui/parts.js"

/** One code, and what is done with it. */
const CodeStep = ({ label, hint, action, inputmode, onCode, onClose, children }) => {
  const [code, setCode] = useState("")
  const running = useAction()
  const submit = event => {
    event.preventDefault()
    running.run(() => onCode(trimmed(code)))
  }
  return html`<form onSubmit=${submit}>${children}
    <${TextField} label=${label} hint=${hint} required inputmode=${inputmode} autocomplete="one-time-code" value=${code} onInput=${setCode} />
    <${ErrorBox} error=${withoutFields(running.error)} known=${t.errors} />
    <div class="actions"><button class="primary" disabled=${running.isBusy}>${action}</button>
      <button type="button" onClick=${onClose}>${texts.parts.cancel}</button></div></form>`
}

export const ReplaceAuthenticator = ({ onDone, onClose }) => {
  const [made, show] = useState(null)
  const begin = async code => show(await post("/v1/two-factor/replace", { code }))
  const confirm = async code => {
    await post("/v1/two-factor/replace/confirm", { code })
    onDone()
  }
  return html`<${Dialog} title=${t.title} onClose=${onClose}>${made
    ? html`<${CodeStep} key="new" label=${t.next} hint=${t.nextHint} action=${t.finish} inputmode="numeric" onCode=${confirm} onClose=${onClose}>
        <h3>${t.scan}</h3><${AuthenticatorSecret} uri=${made.totp_uri} secret=${made.secret} /><//>`
    : html`<${CodeStep} key="current" label=${t.current} hint=${t.currentHint} action=${t.continue} onCode=${begin} onClose=${onClose}>
        <p>${t.steps}</p><//>`}<//>`
}
