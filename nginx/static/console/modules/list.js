// The organization's modules, and creating one.
import { announce } from "../lib/announce.js"
import { getAll } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { modules as t } from "../lib/texts_modules.js"
import { html, useState } from "../lib/view.js"
import { LONGEST_SLUG, shortNameOf } from "../lib/slug.js"
import { FormDialog } from "../ui/dialogs.js"
import { Empty, Loaded, Table, TextField, Title } from "../ui/parts.js"
import { ModuleBadge, installedIn } from "./parts.js"

const CreateModule = ({ onClose }) => {
  const [fields, setFields] = useState({ name: "", slug: "", vendor: "" })
  const creating = useAction()
  const create = useCreate()
  const open = useOpen()
  const suggested = name => shortNameOf(name, "module")
  const setName = name => setFields({ ...fields, name, slug: fields.slug === suggested(fields.name) ? suggested(name) : fields.slug })
  const submit = () => creating.run(async () => {
    const made = await create("/v1/modules", fields)
    announce(t.created(made.name))
    open(["modules", made.id, "versions", "new"])
  })
  const faults = creating.error?.fields ?? {}
  return html`<${FormDialog} title=${t.create} action=${t.createNow} values=${fields} running=${creating} isShown=${path => path in fields} known=${t.createErrors} submit=${submit} onClose=${onClose}>
    <${TextField} label=${t.name} hint=${t.nameHint} required maxlength="255" value=${fields.name} error=${faults.name} onInput=${setName} />
    <${TextField} label=${t.slug} hint=${t.slugHint} required maxlength=${LONGEST_SLUG} value=${fields.slug} error=${faults.slug}
      onInput=${slug => setFields({ ...fields, slug })} />
    <${TextField} label=${t.vendor} hint=${t.vendorHint} required maxlength="255" value=${fields.vendor} error=${faults.vendor}
      onInput=${vendor => setFields({ ...fields, vendor })} /><//>`
}

const Row = ({ module, installation }) => html`<tr><th scope="row"><a href=${address(["modules", module.id])}>${module.name}</a></th>
  <td><code>${module.slug}</code></td><td>${module.vendor}</td><td><${ModuleBadge} status=${module.status} /></td>
  <td>${installation ? html`<a href=${address(["installations", installation.id])}>${t.installed}</a>` : t.notInstalled}</td></tr>`

const load = async signal => {
  const [modules, installations] = await Promise.all([
    getAll("/v1/modules", "modules", undefined, signal), getAll("/v1/installations", "installations", undefined, signal)])
  return { modules, installed: installedIn(installations) }
}

export default ({ role }) => {
  const state = useLoad(load, [])
  const [isOpen, show] = useState(false)
  return html`<${Title} text=${t.title} actions=${role !== "viewer" && html`
      <button type="button" class="primary" onClick=${() => show(true)}>${t.create}</button>`} />
    <p>${t.hint}</p>
    <${Loaded} state=${state}>${({ modules, installed }) => (modules.length === 0
      ? html`<${Empty} title=${t.none}><p>${role === "viewer" ? texts.dialogs.askAdmin : t.noneHint}</p><//>`
      : html`<${Table} caption=${t.title} columns=${t.columns}>${modules.map(one => html`
          <${Row} key=${one.id} module=${one} installation=${installed[one.id]} />`)}<//>`)}<//>
    ${isOpen && html`<${CreateModule} onClose=${() => show(false)} />`}`
}
