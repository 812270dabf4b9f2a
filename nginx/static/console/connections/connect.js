// The catalog of providers. Connecting leaves the console for the provider's page, which leads back to it.
import { post } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { useIsHere } from "../lib/router.js"
import { trimmed } from "../lib/text.js"
import { connections as t } from "../lib/texts_connections.js"
import { html, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { TextField } from "../ui/parts.js"

const LONGEST = 10_000 // milliseconds: the person can stop the navigation, which no event reports

/**
 * A function that asks for a link to the provider, and follows it. It ends when the person has returned, or has left the screen
 * before, and after LONGEST.
 */
export const useFollow = () => {
  const isHere = useIsHere()
  return async body => {
    const { redirectUrl } = await post("/v1/external-data/connect", body)
    if (!isHere()) return
    location.href = redirectUrl
    await new Promise(resolve => {
      addEventListener("pageshow", resolve, { once: true })
      setTimeout(resolve, LONGEST)
    })
  }
}

const ConnectDialog = ({ provider, onClose }) => {
  const [name, setName] = useState("")
  const [shop, setShop] = useState("")
  const going = useAction()
  const follow = useFollow()
  const needsShop = provider.provider === "shopify"
  const submit = () => going.run(() =>
    follow({ provider: provider.provider, ...(trimmed(name) ? { name } : {}), ...(needsShop ? { settings: { shop } } : {}) }))
  return html`<${FormDialog} title=${t.connectTitle(provider.name)} action=${t.continue} values=${[name, shop]} running=${going}
    isShown=${path => path === "name" || path === "settings.shop"} submit=${submit} onClose=${onClose}>
    <p>${t.connectHint(provider.name)}</p>
    ${needsShop && html`<${TextField} label=${t.shop} hint=${t.shopHint} required value=${shop} onInput=${setShop} error=${going.error?.fields?.["settings.shop"]} />`}
    <${TextField} label=${t.name} hint=${t.nameHint} maxlength="255" value=${name} onInput=${setName} error=${going.error?.fields?.name} /><//>`
}

/** An admin who becomes a viewer keeps the dialog, with its text. */
export const Connect = ({ catalog, isAdmin }) => {
  const [chosen, choose] = useState(null)
  return html`${isAdmin && html`<section><h2>${t.catalog}</h2><ul class="cards">${catalog.map(provider => html`<li key=${provider.provider}>
      <h3>${provider.name}</h3><p>${provider.description}</p>
      ${provider.ready ? html`<button type="button" aria-label=${t.connectTitle(provider.name)} onClick=${() => choose(provider)}>${t.connect}</button>`
        : html`<p class="faint">${t.notReady}</p>`}</li>`)}</ul></section>`}
    ${chosen && html`<${ConnectDialog} provider=${chosen} onClose=${() => choose(null)} />`}`
}
