// The dialogs of an installation: its settings and version, and disabling it.
import { call, ifMatch } from "../lib/api.js"
import { useAction, useLoad } from "../lib/load.js"
import { plural } from "../lib/format.js"
import { texts } from "../lib/texts.js"
import { installations as t } from "../lib/texts_modules.js"
import { html, useEffect, useState } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { ErrorBox, Loading, SelectField } from "../ui/parts.js"
import { configOf, droppedFrom, fieldsOf } from "./config.js"
import { versionChoices } from "./install.js"
import { Settings, isSetting, useProperties } from "./parts.js"

/** `version`: the one that is chosen first. */
export const ChangeSettings = ({ module, version: first, onDone, onClose, onReload, ...now }) => {
  const [{ record, stored }] = useState(now) // the version of the values with which the form begins, for If-Match
  const [version, setVersion] = useState(first ?? record.version_id)
  const [form, setForm] = useState({ fields: {}, removed: new Set() })
  const saving = useAction()
  const versions = useLoad(signal => versionChoices(module, signal), [])
  const settings = useProperties(module.id, version)
  const properties = settings.data?.properties
  useEffect(() => {
    if (properties) setForm(before => ({ ...before, fields: { ...fieldsOf(properties, stored), ...before.fields } }))
  }, [properties])
  const dropped = properties ? droppedFrom(properties, stored) : []
  const submit = () => properties && saving.run(async () => {
    const json = `{"version_id":"${version}","config":${configOf(properties, form.fields, stored, form.removed)}}`
    await call("PATCH", `/v1/installations/${record.id}`, { json, headers: ifMatch(record) })
    await onDone(t.changed)
  })
  return html`<${FormDialog} title=${t.changeTitle(module.name)} action=${texts.parts.save} isWide=${true} isReady=${Boolean(properties)}
    values=${properties && [version, { ...fieldsOf(properties, stored), ...form.fields }, [...form.removed]]} record=${record} running=${saving}
    isShown=${isSetting(properties)} submit=${submit} onClose=${onClose} onReload=${onReload}>
    <p>${t.changeHint}</p>
    <${SelectField} label=${t.version} value=${version} onChange=${setVersion} options=${versions.data ?? []} error=${saving.error?.fields?.version_id} />
    <h3>${t.settings}</h3><${ErrorBox} error=${versions.error ?? settings.error} />
    ${properties ? html`<${Settings} properties=${properties} stored=${stored} form=${form} change=${setForm}
      faults=${saving.error?.fields} />` : settings.isLoading && html`<${Loading} />`}
    ${dropped.length > 0 && html`<p class="box warning">${t.dropped(dropped.join(", "))}</p>`}<//>`
}

/** credentials, endpoints: how many would stop. */
export const Disable = ({ module, record, credentials, endpoints, onDone, onClose, onReload }) => {
  const running = useAction()
  const submit = () => running.run(async () => {
    await call("DELETE", `/v1/installations/${record.id}`, { headers: ifMatch(record) })
    await onDone(t.disabled)
  })
  return html`<${FormDialog} title=${t.disableTitle(module.name)} action=${t.disable} kind="danger" record=${record} running=${running} submit=${submit} onClose=${onClose}
    onReload=${onReload}><p>${t.disableHint}</p>
    <ul class="list">${t.disableList(plural(credentials, "credential"), plural(endpoints, "webhook endpoint")).map(text => html`<li>${text}</li>`)}</ul><//>`
}
