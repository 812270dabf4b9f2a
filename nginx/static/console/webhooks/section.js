// The webhook endpoints of one installation, on its page.
import { useOpen } from "../lib/router.js"
import { installations as i } from "../lib/texts_modules.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useState } from "../lib/view.js"
import { AddEndpoint } from "./form.js"
import { EndpointTable } from "./parts.js"

/** A function that goes to the page of an endpoint. */
export const useOpenEndpoint = () => {
  const open = useOpen()
  return made => open(["webhooks", "endpoints", made.module_installation_id, made.id])
}

/** emitted: the types that the installed version reports. */
export const EndpointSection = ({ installation, module, emitted, endpoints, isAdmin }) => {
  const [isOpen, show] = useState(false)
  const openEndpoint = useOpenEndpoint()
  return html`<section><header class="title"><h2>${i.endpoints}</h2>
      ${isAdmin && installation.status !== "disabled" && html`<button type="button" onClick=${() => show(true)}>${t.add}</button>`}</header>
    ${endpoints.length === 0 ? html`<p class="faint">${i.noEndpoints}</p>` : html`<${EndpointTable} endpoints=${endpoints} isOff=${() => installation.status === "disabled"} />`}
    ${isOpen && html`<${AddEndpoint} choices=${[{ ...installation, module }]} emitted=${emitted} onDone=${openEndpoint} onClose=${() => show(false)} />`}</section>`
}
