// A new version: its manifest, published or kept as a draft. A version cannot change, so a manifest with faults stays as a draft, and
// the next attempt is another version.
import { announce } from "../lib/announce.js"
import { call, get, getAll, post, withoutFields } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { memberOf, parse, printed } from "../lib/json.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, route, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { modules as t } from "../lib/texts_modules.js"
import { differs, useUnsaved } from "../lib/unsaved.js"
import { html, useState } from "../lib/view.js"
import { CopyButton, ErrorBox, Loaded, TextField, Title } from "../ui/parts.js"
import { Manifest, ManifestHelp, exampleOf, faultsIn, faultsOf, nextVersion } from "./manifest.js"

/** A version, and its manifest as its numbers are written. */
export const readVersion = async (path, signal) => {
  const { data } = await call("GET", path, { asText: true, signal })
  const manifest = memberOf(parse(data), "manifest")
  return { record: JSON.parse(data), text: manifest ? printed(manifest) : "" }
}

/** The module, and a first text: the manifest of the version that is copied, of the newest one, or the example. */
const load = async (id, from, signal) => {
  const path = `/v1/modules/${id}`
  const [module, versions] = await Promise.all([get(path, undefined, signal), getAll(`${path}/versions`, "versions", undefined, signal)])
  const newest = versions.at(-1)
  const source = versions.find(one => one.id === from) ?? newest
  const text = source ? (await readVersion(`${path}/versions/${source.id}`, signal)).text : exampleOf(module)
  return { module, text, version: newest ? nextVersion(newest.version) : "1.0.0" }
}

const publish = async (module, made) => {
  await post(`/v1/modules/${module.id}/versions/${made.id}/publish`)
  announce(t.published(made.version))
}

const Tools = ({ module, text, setText }) => html`<div class="actions">
  <button type="button" class="small" onClick=${() => setText(exampleOf(module))}>${t.example}</button>
  <button type="button" class="small" disabled=${faultsIn(text).length > 0} onClick=${() => setText(printed(parse(text)))}>${t.format}</button></div>`

const Form = ({ module, text: first, version: suggested, mayChange }) => {
  const [version, setVersion] = useState(suggested)
  const [text, setText] = useState(first)
  const [faults, setFaults] = useState([])
  const [kept, setKept] = useState("")
  const [stored, setStored] = useState([suggested, first]) // the version and the text that leaving does not lose
  const saving = useAction()
  const create = useCreate()
  const open = useOpen()
  useUnsaved(differs([version, text], stored) && !saving.isBusy)
  const keep = (made, error) => {
    const next = nextVersion(made.version)
    setFaults(faultsOf(text, error.fields))
    setKept(made.version)
    setVersion(next)
    setStored([next, text])
  }
  const send = async isPublished => {
    const found = faultsIn(text)
    setFaults(found)
    setKept("")
    if (found.length) return saving.clear()
    return saving.run(async () => {
      const json = `{"version":${JSON.stringify(version)},"manifest":${text}}`
      const made = await create(`/v1/modules/${module.id}/versions`, undefined, { json })
      const draft = ["modules", module.id, "versions", made.id]
      if (!isPublished) {
        announce(t.draftSaved)
        return open(draft)
      }
      try {
        await publish(module, made)
        return open(["modules", module.id])
      } catch (error) {
        if (error.code === "MANIFEST_INVALID") return keep(made, error)
        announce(t.notPublished)
        return open(draft)
      }
    })
  }
  const submit = event => {
    event.preventDefault()
    if (mayChange) send(true) // Enter in the field of the version
  }
  return html`<form onSubmit=${submit}>
    ${kept && html`<p class="box warning" role="status">${t.keptDraft(kept, version)}</p>`}
    <${TextField} label=${t.version} hint=${t.versionHint} required maxlength="64" readonly=${!mayChange} value=${version} error=${saving.error?.fields?.version} onInput=${setVersion} />
    <${Manifest} text=${text} faults=${faults} hint=${t.manifestHint} onInput=${mayChange ? setText : undefined}
      tools=${mayChange ? html`<${Tools} module=${module} text=${text} setText=${setText} />` : html`<div class="actions"><${CopyButton} text=${text} /></div>`} />
    <${ManifestHelp} />
    <${ErrorBox} error=${withoutFields(saving.error ?? (mayChange ? null : { code: "FORBIDDEN" }), path => path === "version")} known=${t.versionErrors} />
    ${mayChange && html`<div class="actions after"><button class="primary" disabled=${saving.isBusy}>${t.publish}</button>
      <button type="button" disabled=${saving.isBusy} onClick=${() => send(false)}>${t.saveDraft}</button></div>`}</form>`
}

/** An admin who becomes a viewer keeps the text, and can copy it. */
export default ({ id, role }) => {
  const { from } = route.get().query
  const state = useLoad(signal => load(id, from, signal), [id])
  return html`<p><a href=${address(["modules", id])}>${t.backToModule}</a></p><${Loaded} state=${state} title=${texts.screens.newVersion}>${data => html`
    <${Title} text=${t.newTitle(data.module.name)} /><${Form} ...${data} mayChange=${role !== "viewer"} />`}<//>`
}
