// The form of the dates and numbers in a file. The person chooses what the file does not show.
import { imports as t } from "../lib/texts_imports.js"
import { html } from "../lib/view.js"
import { SelectField } from "../ui/parts.js"

/** @type {Array<[string, string, string, string[][]]>} */
const FIELDS = [["dates", t.dates, t.datesUnsure, t.dateFormats], ["numbers", t.numbers, t.numbersUnsure, t.numberFormats]]

/**
 * guesses: what the file shows, of guessFormats. shown: the names of the forms that are asked. chosen: what the person chose.
 * @param {{ guesses: Record<string, { format: string, isSure: boolean }>, shown: string[], chosen: Record<string, string>,
 *   onChange: (chosen: Record<string, string>) => void }} props
 */
export const FormatFields = ({ guesses, shown, chosen, onChange }) => FIELDS.filter(([name]) => shown.includes(name))
  .map(([name, label, unsure, options]) => {
    const value = formatsOf(guesses, chosen)[name]
    return html`<${SelectField} key=${name} label=${label} error=${value ? undefined : unsure} value=${value}
      onChange=${format => onChange({ ...chosen, [name]: format })} options=${value ? options : [["", t.chooseFormat], ...options]} />`
  })

/** The forms that were chosen, or that the file shows; "" for one that is not known. */
export const formatsOf = (guesses, chosen) => Object.fromEntries(Object.entries(guesses)
  .map(([name, guess]) => [name, chosen[name] || (guess.isSure ? guess.format : "")]))

/** The names of the forms that the person has to choose. */
export const unsureOf = (guesses, chosen = {}) => Object.keys(guesses).filter(name => !guesses[name].isSure && !chosen[name])
