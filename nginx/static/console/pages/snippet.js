// Code to copy.
import { html } from "../lib/view.js"
import { CopyButton } from "../ui/parts.js"

export const Snippet = ({ label, text }) => html`<div class="snippet"><pre tabindex="0" role="region" aria-label=${label}>${text}</pre>
  <${CopyButton} text=${text} /></div>`
