// The second factor: a code of the authenticator or a backup code. An admin without an authenticator sets one up first.
import { get, post, withoutFields } from "../lib/api.js"
import { loadModule } from "../lib/later.js"
import { useAction, useLoad } from "../lib/load.js"
import { endSession, session, takeSession } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { html, useRef, useState } from "../lib/view.js"
import { Dialog, ErrorBox, Loading, TextField, Title } from "../ui/parts.js"

const t = texts.factor
const KINDS = {
  totp: { path: "/api/auth/two-factor/verify-totp", label: t.code, hint: t.codeHint, inputmode: "numeric" },
  backup: { path: "/api/auth/two-factor/verify-backup-code", label: t.backupCode, hint: t.backupHint, inputmode: "text" },
}

/** Asks for a code, and calls onVerified once it is right; again with the next try if that fails, for a code is valid once. */
export const CodeForm = ({ onVerified, onCancel, canUseBackup = true, action = t.verify }) => {
  const [kind, setKind] = useState("totp")
  const [code, setCode] = useState("")
  const checking = useAction()
  const isRight = useRef(false)
  const { path, label, hint, inputmode } = KINDS[kind]
  const submit = event => {
    event.preventDefault()
    checking.run(async () => {
      if (!isRight.current) await post(path, { code: trimmed(code) })
      isRight.current = true
      await onVerified()
    })
  }
  const change = () => {
    setKind(kind === "totp" ? "backup" : "totp")
    setCode("")
    checking.clear()
  }
  return html`<form onSubmit=${submit}>
    <${TextField} key=${kind} label=${label} hint=${hint} name="code" inputmode=${inputmode} autocomplete="one-time-code" required isFirst
      value=${code} onInput=${setCode} />
    <${ErrorBox} error=${withoutFields(checking.error)} known=${isRight.current ? {} : t.errors} />
    <div class="actions"><button class="primary" disabled=${checking.isBusy}>${action}</button>
      ${canUseBackup && html`<button type="button" onClick=${change}>${kind === "totp" ? t.useBackup : t.useCode}</button>`}
      ${onCancel && html`<button type="button" onClick=${onCancel}>${texts.parts.cancel}</button>`}</div>
  </form>`
}

const finish = async () => takeSession(await get("/v1/session"))

const Enrollment = () => {
  const { data, error } = useLoad(() => loadModule(() => import("./enroll.js")), [])
  if (error) return html`<${ErrorBox} error=${{ message: texts.app.notLoaded }} retry=${() => location.reload()} />`
  return data ? html`<${data.Enroll} onVerified=${finish} />` : html`<${Title} text=${texts.factor.enrollTitle} /><${Loading} />`
}

/** asks: of a session whose second factor is too old; called with the result. Otherwise this is a step of the sign-in. */
export const SecondFactor = ({ asks }) => {
  const { isEnrolled } = useStore(session)
  if (asks) {
    return html`<${Dialog} title=${t.againTitle} onClose=${() => asks(false)}><p>${t.again}</p>
      <${CodeForm} onVerified=${() => asks(true)} onCancel=${() => asks(false)} /><//>`
  }
  return html`${isEnrolled ? html`<${Title} text=${t.title} /><${CodeForm} onVerified=${finish} />` : html`<${Enrollment} />`}
    <p class="after"><button type="button" onClick=${endSession}>${texts.signIn.otherAddress}</button></p>`
}
