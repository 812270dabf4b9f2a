// Setting up an authenticator: the QR code, its secret as text, the backup codes, and a first code.
import { post } from "../lib/api.js"
import { useLoad } from "../lib/load.js"
import { texts } from "../lib/texts.js"
import { html, useState } from "../lib/view.js"
import { CopyButton, Loaded, Title } from "../ui/parts.js"
import { qrcode } from "../vendor/qrcode-generator/qrcode.js"
import { BackupCodes } from "./backup_codes.js"
import { CodeForm } from "./second_factor.js"

const t = texts.enroll
const MARGIN = 4 // modules, as the standard of QR codes requires

const QrCode = ({ text }) => {
  const code = qrcode(0, "M")
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  let path = ""
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (code.isDark(row, column)) path += `M${column + MARGIN} ${row + MARGIN}h1v1h-1z`
    }
  }
  const box = `0 0 ${size + 2 * MARGIN} ${size + 2 * MARGIN}`
  return html`<svg class="qr" viewBox=${box} role="img" aria-label=${t.qr}><path d=${path} /></svg>`
}

export const Enroll = ({ onVerified }) => {
  const made = useLoad(() => post("/api/auth/two-factor/enable", {}), [])
  const [hasSaved, setSaved] = useState(false)
  return html`<${Title} text=${t.title} /><p>${t.why}</p>
    <${Loaded} state=${made}>${({ totp_uri: uri, secret, backup_codes: codes }) => html`
      <section><h2>${t.scan}</h2><p>${t.scanHint}</p><${QrCode} text=${uri} />
        <p>${t.secret} <code class="wrap">${secret}</code> <${CopyButton} text=${secret} /></p></section>
      <section><h2>${t.codes}</h2><p>${t.codesHint}</p><${BackupCodes} codes=${codes} />
        <p><label class="check"><input type="checkbox" checked=${hasSaved} onChange=${event => setSaved(event.target.checked)} /> ${t.saved}</label></p></section>
      <section><h2>${t.confirm}</h2>${hasSaved
        ? html`<${CodeForm} canUseBackup=${false} action=${t.finish} onVerified=${onVerified} />`
        : html`<p>${t.saveFirst}</p>`}</section>`}<//>`
}
