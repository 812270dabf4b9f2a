// A QR code as a picture without colors of the theme, which scanners need.
import { enroll as t } from "../lib/texts_enroll.js"
import { html } from "../lib/view.js"
import { CopyButton } from "../ui/parts.js"
import { qrcode } from "../vendor/qrcode-generator/qrcode.js"

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

/** The secret of an authenticator: to scan, and to type. */
export const AuthenticatorSecret = ({ uri, secret }) => html`<p>${t.scanHint}</p><${QrCode} text=${uri} />
  <p>${t.secret} <code class="wrap">${secret}</code> <${CopyButton} text=${secret} /></p>`
