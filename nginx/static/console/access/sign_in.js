// Signing in: an address, then the code of the mail.
import { post, withoutFields } from "../lib/api.js"
import { forgetMailed, keepMailed, mailedTo } from "../lib/mailed_code.js"
import { route } from "../lib/router.js"
import { session, takeSession } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html, useState } from "../lib/view.js"
import { useAction } from "../lib/load.js"
import { ErrorBox, TextField, Title } from "../ui/parts.js"

const t = texts.signIn

const AddressForm = ({ email, setEmail, onSent }) => {
  const sending = useAction()
  const submit = async event => {
    event.preventDefault()
    if (await sending.run(() => post("/v1/auth/email-otp/request", { email }))) onSent(email)
  }
  return html`<form onSubmit=${submit}>
    <p>${t.addressHint}</p>
    <${TextField} label=${t.address} type="email" name="email" autocomplete="username" required isFirst value=${email} onInput=${setEmail}
      error=${sending.error?.fields?.email} />
    <${ErrorBox} error=${withoutFields(sending.error)} known=${t.requestErrors} />
    <div class="actions"><button class="primary" disabled=${sending.isBusy}>${t.send}</button></div>
  </form>`
}

const CodeForm = ({ email, onBack }) => {
  const [otp, setOtp] = useState("")
  const checking = useAction()
  const submit = event => {
    event.preventDefault()
    checking.run(async () => takeSession(await post("/v1/auth/email-otp/verify", { email, otp: otp.replace(/\s/g, "") })))
  }
  return html`<form onSubmit=${submit}>
    <p>${t.codeHint(email)}</p>
    <${TextField} label=${t.code} name="otp" inputmode="numeric" autocomplete="one-time-code" required isFirst value=${otp} onInput=${setOtp} />
    <${ErrorBox} error=${withoutFields(checking.error)} known=${t.codeErrors} />
    <div class="actions"><button class="primary" disabled=${checking.isBusy}>${t.signIn}</button>
      <button type="button" onClick=${onBack}>${t.otherAddress}</button></div>
  </form>`
}

export const SignIn = () => {
  const { hasEnded, admin } = useStore(session)
  const { organization, path } = useStore(route)
  const isInvited = organization === null && path[0] === "invitation"
  const [mailed] = useState(mailedTo)
  const [email, setEmail] = useState(mailed ?? admin?.email ?? "")
  const [isSent, show] = useState(mailed !== null)
  const sent = (/** @type {string} */ address) => {
    keepMailed(address)
    setEmail(address) // it may have been edited while the code was requested
    show(true)
  }
  const begin = () => {
    forgetMailed()
    show(false)
  }
  return html`<${Title} text=${isSent ? t.codeTitle : t.title} />
    ${hasEnded && html`<p class="box warning" role="alert">${t.ended}</p>`}
    ${isInvited && !isSent && html`<p class="box">${t.invited}</p>`}
    ${isSent
      ? html`<${CodeForm} email=${email} onBack=${begin} />`
      : html`<${AddressForm} email=${email} setEmail=${setEmail} onSent=${sent} />`}`
}
