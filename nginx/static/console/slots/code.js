// The code that a page needs to show the ads of a slot.
import { get, getAll } from "../lib/api.js"
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { slots as t } from "../lib/texts_ads.js"
import { html, useState } from "../lib/view.js"
import { stateOf } from "../keys/list.js"
import { Snippet } from "../pages/snippet.js"
import { codeOfSlot } from "../pages/snippets.js"
import { Dialog, SelectField } from "../ui/parts.js"

/** What the dialog needs: the address of Muster, and the keys that can be used. */
export const loadCode = async () => {
  const [about, keys] = await Promise.all([get("/console/v1/about"), getAll("/v1/engagement/keys", "keys")])
  return { base: about.base_url, keys: keys.filter(key => stateOf(key) === "active") }
}

const Code = ({ slot, base, keys }) => {
  const [id, choose] = useState(keys[0].id)
  const key = keys.find(one => one.id === id)
  return html`<${SelectField} label=${t.key} hint=${`${t.origins} ${key.allowed_origins.join(", ")}`} value=${id} onChange=${choose}
      options=${keys.map(one => [one.id, one.name])} />
    <${Snippet} label=${t.code} text=${codeOfSlot({ base, key: key.key, slug: slot.slug })} /><p class="hint">${t.extras}</p>`
}

export const CodeOfSlot = ({ slot, data: { base, keys }, onClose }) => html`<${Dialog} isWide=${true} title=${t.codeTitle(slot.name)} onClose=${onClose}>
    <p>${t.codeHint}</p>
    ${keys.length === 0 ? html`<p class="box warning">${t.noKey} <a href=${address(["page-keys"])}>${t.issueKey}</a></p>`
      : html`<${Code} slot=${slot} base=${base} keys=${keys} />`}
    <div class="actions"><button type="button" onClick=${onClose}>${texts.parts.close}</button></div><//>`
