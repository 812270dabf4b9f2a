// The admin's own sign-in: sessions, and the backup codes of the second factor.
import { call, get, post } from "../lib/api.js"
import { announce } from "../lib/announce.js"
import { formatAgo, formatTime, plural } from "../lib/format.js"
import { useAction, useList, useLoad } from "../lib/load.js"
import { format } from "../lib/router.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { html, useState } from "../lib/view.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { account as t, authenticator, everywhere } from "../lib/texts_account.js"
import { enroll } from "../lib/texts_enroll.js"
import { leaving } from "../lib/texts_invitations.js"
import { Leave } from "../team/leave.js"
import { BackupCodes } from "../access/backup_codes.js"
import { signOut } from "../ui/sign_out.js"
import { ReplaceAuthenticator } from "./authenticator.js"
import { programOf } from "./programs.js"
import { FormDialog, SecretDialog } from "../ui/dialogs.js"
import { Badge, Confirm, Loaded, More, Table, TextField, Title } from "../ui/parts.js"

const NewCodes = ({ onClose }) => {
  const [code, setCode] = useState("")
  const [codes, show] = useState(null)
  const making = useAction()
  const submit = () => making.run(async () => show((await post("/v1/two-factor/backup-codes", { code: trimmed(code) })).backup_codes))
  if (codes) {
    return html`<${SecretDialog} title=${t.newCodes} hint=${enroll.codesHint} stored=${enroll.saved} onClose=${onClose}>
      <${BackupCodes} codes=${codes} /><//>`
  }
  return html`<${FormDialog} title=${t.newCodes} action=${t.make} running=${making} known=${texts.factor.errors} mustStay=${true} submit=${submit}
    onClose=${onClose}>
    <p>${t.newCodesHint}</p>
    <${TextField} label=${texts.factor.code} required inputmode="numeric" autocomplete="one-time-code" value=${code} onInput=${setCode} /><//>`
}

const SecondFactor = () => {
  const state = useLoad(signal => get("/v1/session", undefined, signal), [])
  const [asks, ask] = useState("")
  const close = () => {
    ask("")
    state.reload()
  }
  const replaced = () => {
    announce(authenticator.replaced)
    close()
  }
  return html`<section><h2>${t.factor}</h2><${Loaded} state=${state}>${({ admin, two_factor: factor }) => html`
    <p>${t.signedInAs(admin.email)}</p><p>${t.left(plural(factor.backup_codes_left, "backup code"))}</p>
    <div class="actions"><button type="button" onClick=${() => ask("codes")}>${t.newCodes}</button>
      <button type="button" onClick=${() => ask("authenticator")}>${authenticator.replace}</button></div>`}<//>
    ${asks === "codes" && html`<${NewCodes} onClose=${close} />`}
    ${asks === "authenticator" && html`<${ReplaceAuthenticator} onDone=${replaced} onClose=${close} />`}</section>`
}

const nameOf = ({ user_agent: agent }) => (agent ? programOf(agent) : t.unknown)

const EndDialog = ({ session, onDone, onClose }) => {
  const ending = useAction()
  const confirm = () => ending.run(async () => {
    await call("DELETE", session ? `/v1/sessions/${session.id}` : "/v1/sessions")
    await onDone()
  })
  return html`<${Confirm} title=${session ? t.endTitle : t.endOthersTitle} action=${session ? t.end : t.endOthers} isBusy=${ending.isBusy}
    error=${ending.error} onConfirm=${confirm} onClose=${onClose}>${session && html`<p>${t.endAbout(nameOf(session), formatTime(session.created_at))}</p>`}<p>${t.endHint}</p><//>`
}

const EverywhereDialog = ({ onClose }) => {
  const ending = useAction()
  const confirm = () => ending.run(async () => {
    await call("DELETE", "/v1/sessions")
    await signOut()
  })
  return html`<${Confirm} title=${everywhere.title} action=${everywhere.action} isBusy=${ending.isBusy} error=${ending.error}
    onConfirm=${confirm} onClose=${onClose}><p>${everywhere.hint}</p><//>`
}

const Row = ({ session, end }) => html`<tr>
  <th scope="row"><span title=${session.user_agent}>${nameOf(session)}</span></th><td>${session.country ?? "–"}</td><td>${formatTime(session.created_at)}</td>
  <td>${formatAgo(session.last_used_at)}</td>
  <td>${session.is_current ? html`<${Badge} kind="good">${t.current}<//>`
    : html`<button type="button" class="small danger" aria-label=${`${t.end}: ${formatTime(session.created_at)}`} onClick=${end}>${t.end}</button>`}</td></tr>`

const Sessions = () => {
  const list = useList((cursor, signal) => get("/v1/sessions", { cursor }, signal), "sessions", [])
  const [ended, end] = useState(null)
  const [leavesAll, leaveAll] = useState(false)
  const done = async () => {
    await list.reload()
    end(null)
    announce(t.ended)
  }
  return html`<section><h2>${t.sessions}</h2><${Loaded} state=${list}>${() => html`
      <${Table} caption=${t.sessions} columns=${t.columns}>${list.items.map(one => html`<${Row} key=${one.id} session=${one} end=${() => end({ session: one })} />`)}<//>
      <${More} list=${list} />
      <div class="actions">${list.items.length > 1 && html`<button type="button" class="danger" onClick=${() => end({})}>${t.endOthers}</button>`}
        <button type="button" class="danger" onClick=${() => leaveAll(true)}>${everywhere.action}</button></div>`}<//>
    ${leavesAll && html`<${EverywhereDialog} onClose=${() => leaveAll(false)} />`}
    ${ended && html`<${EndDialog} session=${ended.session} onDone=${done} onClose=${() => end(null)} />`}</section>`
}

const Seats = () => {
  const { seats } = useStore(session)
  const [left, leave] = useState(null)
  return html`<section><h2>${leaving.seats}</h2><${Table} caption=${leaving.seats} columns=${leaving.columns}>${seats.map(seat => html`<tr key=${seat.organization_id}>
    <th scope="row"><a href=${format(seat.organization_id, [])}>${seat.name}</a></th><td>${texts.roles[seat.role]}</td>
    <td><button type="button" class="small danger" aria-label=${`${leaving.leave}: ${seat.name}`} onClick=${() => leave(seat)}>${leaving.leave}</button></td></tr>`)}<//>
    ${left && html`<${Leave} seat=${left} onClose=${() => leave(null)} />`}</section>`
}

export default () => html`<${Title} text=${t.title} /><${SecondFactor} /><${Sessions} /><${Seats} />`
