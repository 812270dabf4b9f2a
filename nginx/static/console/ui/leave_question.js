// The question of mayLeave(), on top of everything else.
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { question } from "../lib/unsaved.js"
import { html } from "../lib/view.js"
import { Dialog } from "./parts.js"

const t = texts.leaving

export const LeaveQuestion = () => {
  const { turn, kind, answer } = useStore(question)
  if (!answer) return null
  return html`<${Dialog} key=${turn} title=${t[kind].title} onClose=${() => answer(false)}><p id="leave-hint">${t[kind].hint}</p>
    <div class="actions"><button type="button" class="primary" aria-describedby="leave-hint" onClick=${() => answer(false)}>${t.stay}</button>
      <button type="button" onClick=${() => answer(true)}>${t.leave}</button></div><//>`
}
