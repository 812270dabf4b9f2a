// The backup codes of a second factor, to copy or to save as a file.
import { saveText } from "../lib/copy.js"
import { enroll as t } from "../lib/texts_enroll.js"
import { html } from "../lib/view.js"
import { CopyButton } from "../ui/parts.js"

export const BackupCodes = ({ codes }) => html`<ul class="codes">${codes.map(code => html`<li><code>${code}</code></li>`)}</ul>
  <div class="actions"><${CopyButton} text=${codes.join("\n")} label=${t.copyCodes} />
    <button type="button" class="small" onClick=${() => saveText("muster-backup-codes.txt", `${codes.join("\n")}\n`)}>${t.saveCodes}</button></div>`
