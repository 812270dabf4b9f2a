// One version: its manifest, and publishing a draft.
import { announce } from "../lib/announce.js"
import { get, post, withoutFields } from "../lib/api.js"
import { formatTime } from "../lib/format.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { modules as t } from "../lib/texts_modules.js"
import { html, useState } from "../lib/view.js"
import { Confirm, CopyButton, ErrorBox, Facts, Loaded, Title } from "../ui/parts.js"
import { Manifest, faultsOf } from "./manifest.js"
import { readVersion } from "./new_version.js"
import { VersionBadge } from "./parts.js"

const load = async (id, version, signal) => {
  const [module, read] = await Promise.all([get(`/v1/modules/${id}`, undefined, signal), readVersion(`/v1/modules/${id}/versions/${version}`, signal)])
  return { module, ...read }
}

const Publish = ({ record, onDone, onFault, onClose }) => {
  const publishing = useAction()
  const publish = () => publishing.run(async () => {
    try {
      await post(`/v1/modules/${record.module_id}/versions/${record.id}/publish`)
    } catch (error) {
      if (error.code !== "MANIFEST_INVALID") throw error
      return onFault(error)
    }
    return onDone()
  })
  return html`<${Confirm} title=${t.publishTitle(record.version)} action=${t.publish} kind="primary" isBusy=${publishing.isBusy} error=${publishing.error}
    onConfirm=${publish} onClose=${onClose}><p>${t.publishHint}</p><//>`
}

const Version = ({ module, record, text, role }) => {
  const [isAsking, ask] = useState(false)
  const [error, setError] = useState(null)
  const open = useOpen()
  const done = () => {
    announce(t.published(record.version))
    open(["modules", module.id])
  }
  const fail = found => {
    setError(found)
    ask(false)
  }
  const isAdmin = role !== "viewer" && module.status !== "deprecated"
  const copy = address(["modules", module.id, "versions", "new"], { from: record.id })
  return html`<${Title} text=${t.versionTitle(module.name, record.version)} actions=${isAdmin && html`
      <a class=${`button ${error ? "primary" : ""}`} href=${copy}>${error ? t.fixInNew : t.copyVersion}</a>
      ${record.status === "draft" && !error && html`<button type="button" class="primary" onClick=${() => ask(true)}>${t.publish}</button>`}`} />
    <${Facts} pairs=${[[t.state, html`<${VersionBadge} status=${record.status} />`], [t.createdAt, formatTime(record.created_at)],
      [t.publishedAt, record.published_at ? formatTime(record.published_at) : undefined]]} />
    <${ErrorBox} error=${withoutFields(error)} known=${t.versionErrors} />
    <${Manifest} text=${text} faults=${error ? faultsOf(text, error.fields) : []} tools=${html`<div class="actions"><${CopyButton} text=${text} /></div>`} />
    ${isAsking && html`<${Publish} record=${record} onDone=${done} onFault=${fail} onClose=${() => ask(false)} />`}`
}

export default ({ id, version, role }) => {
  const state = useLoad(signal => load(id, version, signal), [id, version])
  return html`<p><a href=${address(["modules", id])}>${t.backToModule}</a></p><${Loaded} state=${state} title=${texts.screens.version}>${data => html`
    <${Version} key=${data.record.id} ...${data} role=${role} />`}<//>`
}
