// The frame around all screens: organization, navigation, theme, keys, sign-out.
import { announcement } from "../lib/announce.js"
import { plural } from "../lib/format.js"
import { address, format, leaveTo, route } from "../lib/router.js"
import { session } from "../lib/session.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { theme, toggleTheme } from "../lib/theme.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Dialog } from "./parts.js"
import { NAVIGATION } from "./screens.js"
import { trySignOut } from "./sign_out.js"
import { areKeysOn, keysHere, listenForKeys, setKeys } from "./shortcuts.js"

const t = texts.shell

const ThemeButton = () => {
  const { isDark } = useStore(theme)
  return html`<button type="button" class="quiet" aria-pressed=${isDark} onClick=${toggleTheme}>${t.dark}</button>`
}

const Keys = ({ onClose }) => {
  const [on, show] = useState(areKeysOn())
  const change = event => {
    setKeys(event.target.checked)
    show(event.target.checked)
  }
  return html`<${Dialog} title=${t.keys} onClose=${onClose}>
    <dl class="facts">${keysHere(on).map(key => html`<div><dt><kbd>${key}</kbd></dt><dd>${t.keyNames[key]}</dd></div>`)}</dl>
    <p><label class="check"><input type="checkbox" checked=${on} onChange=${change} /> ${t.useKeys}</label></p>
    <div class="actions"><button type="button" onClick=${onClose}>${texts.parts.close}</button></div>
  <//>`
}

const OrganizationSwitch = ({ seats, organization }) => {
  const change = event => {
    const { organization: before, path } = route.get()
    const { value } = event.target
    event.target.value = before ?? "" // until the person has left
    leaveTo(format(value, before ? path.slice(0, 1) : []))
  }
  const seat = seats.find(one => one.organization_id === organization)
  if (seats.length === 1 && seat) return html`<p class="organization" title=${seat.name}><span class="hidden">${t.organization}: </span>${seat.name}</p>`
  return html`<select class="organization" aria-label=${t.organization} title=${seat?.name} value=${seat ? organization : ""} onChange=${change}>
    ${!seat && html`<option value="">${t.choose}</option>`}
    ${seats.map(one => html`<option value=${one.organization_id} selected=${one.organization_id === organization}>${one.name}</option>`)}
  </select>`
}

const Navigation = ({ current }) => html`<nav aria-label=${t.navigation}>
  ${NAVIGATION.map(([heading, links]) => html`<div><h2>${heading}</h2><ul>${links.map(([path, text]) => html`
    <li><a href=${address([path])} aria-current=${current === path ? "page" : undefined}>${text}</a></li>`)}</ul></div>`)}
</nav>`

export const Announcement = () => {
  const { text, turn } = useStore(announcement)
  return html`<p class="announcement" role="status" aria-live="polite">${text && html`<span key=${turn}>${text}</span>`}</p>`
}

export const Head = ({ children, keys }) => html`<header class="head">
  <a class="skip" href="#main" onClick=${event => {
    event.preventDefault()
    document.getElementById("main")?.focus()
  }}>${t.skip}</a>
  <span class="brand">Muster</span>${children}<span class="space"></span><${ThemeButton} />${keys}</header>`

export const Shell = ({ children }) => {
  const { seats, admin, invitations } = useStore(session)
  const { organization, path } = useStore(route)
  const [showsKeys, showKeys] = useState(false)
  const [showsMenu, showMenu] = useState(false)
  const hasSeat = seats.some(one => one.organization_id === organization)
  useEffect(() => listenForKeys(() => showKeys(true)), [])
  useEffect(() => showMenu(false), [organization, path.join("/")])
  const isInvitation = organization === null && path[0] === "invitation"
  const keys = html`${invitations.length > 0 && !isInvitation && html`<a class="button" href="#/invitation">${plural(invitations.length, t.invitation)}</a>`}
    <button type="button" class="quiet" onClick=${() => showKeys(true)}>${t.keys}</button>
    ${hasSeat && html`<a class="button quiet" title=${admin?.email} href=${address(["account"])}>${t.account}</a>`}
    <button type="button" class="quiet" onClick=${() => trySignOut()}>${t.signOut}</button>`
  return html`<${Head} keys=${keys}>
      <button type="button" class="quiet menu" aria-expanded=${showsMenu} onClick=${() => showMenu(!showsMenu)}>${t.menu}</button>
      <${OrganizationSwitch} seats=${seats} organization=${organization} /><//>
    <div class="frame ${showsMenu ? "open" : ""}">
      ${hasSeat && html`<${Navigation} current=${path[0]} />`}
      <main id="main" tabindex="-1">${children}</main>
    </div>
    <${Announcement} />
    ${showsKeys && html`<${Keys} onClose=${() => showKeys(false)} />`}`
}
