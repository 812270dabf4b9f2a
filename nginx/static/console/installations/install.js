// The dialog that installs a module, with the settings of the chosen version.
import { announce } from "../lib/announce.js"
import { getAll } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction, useLoad } from "../lib/load.js"
import { useOpen } from "../lib/router.js"
import { installations as t } from "../lib/texts_modules.js"
import { html, useEffect, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { ErrorBox, Loading, SelectField } from "../ui/parts.js"
import { configOf, fieldsOf } from "./config.js"
import { Settings, isSetting, useProperties } from "./parts.js"

const emptyForm = { fields: {}, removed: new Set() }

/** The published versions of a module, newest first: [id, text] for a list of choices. */
export const versionChoices = async (module, signal) => {
  const versions = await getAll(`/v1/modules/${module.id}/versions`, "versions", undefined, signal)
  return versions.filter(one => one.status === "published").reverse()
    .map(one => [one.id, one.id === module.current_version_id ? t.isCurrent(one.version) : one.version])
}

/** `module`: the one to install. Without it, the person chooses one of `modules`. */
export const Install = ({ module: given, modules = [], onClose }) => {
  const [chosen, choose] = useState(given ?? null)
  const [version, setVersion] = useState(given?.current_version_id ?? "")
  const [form, setForm] = useState(emptyForm)
  const installing = useAction()
  const create = useCreate()
  const open = useOpen()
  const versions = useLoad(signal => (chosen ? versionChoices(chosen, signal) : Promise.resolve([])), [chosen?.id])
  const settings = useProperties(chosen?.id, version)
  const properties = settings.data?.properties
  useEffect(() => {
    if (properties) setForm(before => ({ ...emptyForm, fields: { ...fieldsOf(properties, {}), ...before.fields } }))
  }, [properties])
  const setModule = id => {
    const found = modules.find(one => one.id === id) ?? null
    choose(found)
    setVersion(found?.current_version_id ?? "")
    setForm(emptyForm)
    installing.clear()
  }
  const submit = () => properties && installing.run(async () => {
    const json = `{"module_id":"${chosen.id}","version_id":"${version}","config":${configOf(properties, form.fields)}}`
    const made = await create("/v1/installations", undefined, { json })
    announce(t.installed(chosen.name))
    open(["installations", made.id])
  })
  return html`<${FormDialog} title=${given ? t.installTitle(given.name) : t.install} action=${t.installNow} isWide=${true} isReady=${Boolean(properties)}
    values=${properties && [version, { ...fieldsOf(properties, {}), ...form.fields }]} running=${installing} isShown=${isSetting(properties)} known=${t.installErrors} submit=${submit} onClose=${onClose}>
    ${!given && html`<${SelectField} label=${t.module} required value=${chosen?.id ?? ""} onChange=${setModule}
      options=${[["", t.choose], ...modules.map(one => [one.id, one.name])]} />`}
    ${chosen && html`<${SelectField} label=${t.version} value=${version} onChange=${setVersion} options=${versions.data ?? []} />
      <h3>${t.settings}</h3><${ErrorBox} error=${versions.error ?? settings.error} />
      ${properties ? html`<${Settings} properties=${properties} form=${form} change=${setForm} faults=${installing.error?.fields} />`
        : settings.isLoading && html`<${Loading} />`}`}<//>`
}
