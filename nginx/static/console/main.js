// Starts the console: applies the theme, then draws the application.
import { App } from "./ui/app.js"
import { Boundary } from "./ui/boundary.js"
import { keepFocus } from "./lib/focus.js"
import { startTheme } from "./lib/theme.js"
import { html, render } from "./lib/view.js"

startTheme()
keepFocus()
const place = document.getElementById("app")
place?.replaceChildren()
if (place) render(html`<${Boundary} frame=${message => html`<main class="narrow">${message}</main>`}><${App} /><//>`, place)
