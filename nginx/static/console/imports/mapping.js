// The table that assigns the columns of a file to fields of members. An attribute can be created or enabled on the way.
import { announce } from "../lib/announce.js"
import { call, ifMatch } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { distinct } from "../lib/composed.js"
import { trimmed } from "../lib/text.js"
import { texts } from "../lib/texts.js"
import { imports as t } from "../lib/texts_imports.js"
import { html, useState } from "../lib/view.js"
import { EditAttribute } from "../attributes/edit.js"
import { FormDialog } from "../ui/dialogs.js"
import { Table } from "../ui/parts.js"
import { attributeKeyOf } from "./columns.js"
import { guessType } from "./convert.js"

const CORE = Object.keys(texts.member.fields)
const SAMPLES = 3
const SAMPLE_LENGTH = 60
const CHOICES = 100 // values of a column that a new attribute with choices begins with
const NEW = "new"
const DISABLED = "disabled:"

const cellsOf = (source, index) => source.samples.map(cells => trimmed(cells[index] ?? "")).filter(Boolean)
const samplesOf = (source, index) => [...new Set(cellsOf(source, index).map(cell => cell.slice(0, SAMPLE_LENGTH)))].slice(0, SAMPLES).join(" · ")

/** What the form of a new attribute for this column begins with. */
const firstOf = (source, index) => {
  const cells = cellsOf(source, index)
  return { label: source.header[index], key: attributeKeyOf(source.header[index]), type: guessType(cells), choices: distinct(cells).slice(0, CHOICES) }
}

const EnableDialog = ({ attribute, onDone, onClose, onReload }) => {
  const enabling = useAction()
  const enable = () => enabling.run(async () => {
    const { key, type, label, choices } = attribute
    const body = { type, label, enabled: true, ...(choices.length ? { choices } : {}) }
    onDone((await call("PUT", `/v1/attributes/${encodeURIComponent(key)}`, { body, headers: ifMatch(attribute) })).data)
  })
  return html`<${FormDialog} title=${t.enableTitle(attribute.label)} action=${t.enable} record=${attribute} running=${enabling} submit=${enable} onClose=${onClose}
    onReload=${onReload} reloadText=${t.showAttributes}><p>${t.enableHint}</p><//>`
}

const Options = ({ options, chosen }) => options.map(([key, text]) => html`<option value=${key} selected=${key === chosen}>${text}</option>`)

const Target = ({ name, target, attributes, onChoose }) => {
  const enabled = attributes.filter(one => one.enabled)
  const disabled = attributes.filter(one => !one.enabled)
  const choose = event => {
    const { value } = event.target
    event.target.value = target // until the attribute exists
    onChoose(value)
  }
  return html`<select aria-label=${t.fieldFor(name)} value=${target} onChange=${choose}>
    <option value="" selected=${target === ""}>${t.ignored}</option>
    <optgroup label=${t.memberFields}><${Options} options=${CORE.map(key => [key, texts.member.fields[key]])} chosen=${target} /></optgroup>
    <optgroup label=${t.attributes}><${Options} options=${enabled.map(({ key, label }) => [`attribute:${key}`, label])} chosen=${target} />
      <option value=${NEW}>${t.newAttribute}</option></optgroup>
    ${disabled.length > 0 && html`<optgroup label=${t.disabled}>
      <${Options} options=${disabled.map(({ key, label }) => [`${DISABLED}${key}`, label])} chosen=${target} /></optgroup>`}
  </select>`
}

/** targets: of the columns, in their order. reload: reads the attributes again. */
export const Mapping = ({ source, attributes, setAttributes, reload, targets, setTargets }) => {
  const [asked, ask] = useState(null) // { index, attribute? }: an attribute is created or enabled for a column
  const nameOf = target => texts.member.fields[target] ?? attributes.find(({ key }) => `attribute:${key}` === target)?.label
  const assign = (index, target) => {
    const before = target ? targets.indexOf(target) : -1
    if (before >= 0 && before !== index) announce(t.moved(nameOf(target), source.header[before]))
    setTargets(targets.map((one, at) => (at === index ? target : one === target ? "" : one)))
  }
  const choose = (index, value) => {
    if (value === NEW) ask({ index })
    else if (value.startsWith(DISABLED)) ask({ index, attribute: attributes.find(({ key }) => key === value.slice(DISABLED.length)) })
    else assign(index, value)
  }
  const done = made => {
    setAttributes([...attributes.filter(({ key }) => key !== made.key), made])
    if (made.enabled) assign(asked.index, `attribute:${made.key}`)
    ask(null)
  }
  const close = () => ask(null)
  return html`<${Table} caption=${t.mapping} columns=${t.mappingColumns} isStacked=${true}>${source.header.map((name, index) => html`<tr key=${name}>
      <th scope="row">${name}</th><td class="faint">${samplesOf(source, index) || t.noSamples}</td>
      <td><${Target} name=${name} target=${targets[index]} attributes=${attributes} onChoose=${value => choose(index, value)} /></td></tr>`)}<//>
    ${asked && (asked.attribute ? html`<${EnableDialog} attribute=${asked.attribute} onDone=${done} onClose=${close} onReload=${reload} />`
      : html`<${EditAttribute} first=${firstOf(source, asked.index)} onDone=${done} onClose=${close} />`)}`
}
