// Setting up an authenticator: the QR code, its secret as text, the backup codes, and a first code.
import { post } from "../lib/api.js"
import { useLoad } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { enroll as t } from "../lib/texts_enroll.js"
import { html, useState } from "../lib/view.js"
import { Loaded, Title } from "../ui/parts.js"
import { BackupCodes } from "./backup_codes.js"
import { AuthenticatorSecret } from "./qr_code.js"
import { CodeForm } from "./second_factor.js"

export const Enroll = ({ onVerified }) => {
  const made = useLoad(() => post("/api/auth/two-factor/enable", {}), [])
  const [hasSaved, setSaved] = useState(false)
  return html`<${Title} text=${texts.factor.enrollTitle} /><p>${t.why}</p>
    <${Loaded} state=${made}>${({ totp_uri: uri, secret, backup_codes: codes }) => html`
      <section><h2>${t.scan}</h2><${AuthenticatorSecret} uri=${uri} secret=${secret} /></section>
      <section><h2>${t.codes}</h2><p>${t.codesHint}</p><${BackupCodes} codes=${codes} />
        <p><label class="check"><input type="checkbox" checked=${hasSaved} onChange=${event => setSaved(event.target.checked)} /> ${t.saved}</label></p></section>
      <section><h2>${t.confirm}</h2>${hasSaved
        ? html`<${CodeForm} canUseBackup=${false} action=${t.finish} onVerified=${onVerified} />`
        : html`<p>${t.saveFirst}</p>`}</section>`}<//>`
}
