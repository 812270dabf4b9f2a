// What is shown in place of a screen, or of the whole console, that failed while it was drawn.
import { route } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { html, useErrorBoundary } from "../lib/view.js"
import { CopyButton, Title } from "./parts.js"

const t = texts.failure

/** For the developers. Without the query of the address, which can have names of members. @param {any} error */
const detailsOf = error => [`${error?.name}: ${error?.message}`, `#/${route.get().path.join("/")}`, navigator.userAgent, error?.stack]
  .filter(Boolean).join("\n")

const Failure = ({ error }) => html`<${Title} text=${t.title} />
  <div class="box error" role="alert"><p>${t.hint}</p>
    <div class="actions"><button type="button" class="primary" onClick=${() => location.reload()}>${t.reload}</button>
      <${CopyButton} text=${detailsOf(error)} label=${t.copy} /></div></div>`

/** Shows the failure of its children in place of them. frame: around the message. */
export const Boundary = ({ children, frame = message => message }) => {
  const [error] = useErrorBoundary(found => console.error(found))
  return error ? frame(html`<${Failure} error=${error} />`) : children
}
