// The form of the dates in a file. The person chooses it if the file does not show it.
import { texts } from "../lib/texts.js"
import { html } from "../lib/view.js"
import { SelectField } from "../ui/parts.js"

const t = texts.imports

/** isSure: the file shows the form. value: "" until it is known. */
export const DatesField = ({ isSure, value, onChange }) => html`<${SelectField} label=${t.dates} error=${isSure || value ? undefined : t.datesUnsure}
  value=${value} onChange=${onChange} options=${isSure || value ? t.dateFormats : [["", t.chooseDates], ...t.dateFormats]} />`
