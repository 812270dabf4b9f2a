// The short way to a first endpoint: creates, publishes and installs a module. A step that failed is repeated, and the others are not.
import { post } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { session } from "../lib/session.js"
import { route } from "../lib/router.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useRef, useState } from "../lib/view.js"
import { shortNameOf } from "../lib/slug.js"
import { FormDialog } from "../ui/dialogs.js"
import { TextField } from "../ui/parts.js"

const FIRST_VERSION = "1.0.0"

const vendor = () => session.get().seats.find(seat => seat.organization_id === route.get().organization)?.name ?? ""

/** `done` keeps the results of the steps. @param {Record<string, any>} done @param {string} name @param {any} create of useCreate() */
export const setUp = async (done, name, create) => {
  done.module ??= await create("/v1/modules", { name, slug: shortNameOf(name, "module"), vendor: vendor() })
  const path = `/v1/modules/${done.module.id}/versions`
  done.version ??= await create(path, { version: FIRST_VERSION, manifest: { name: done.module.name } })
  done.published ??= await post(`${path}/${done.version.id}/publish`)
  done.installation ??= await create("/v1/installations", { module_id: done.module.id, config: {} })
  return done
}

export const SetUp = ({ onDone, onClose }) => {
  const [name, setName] = useState("")
  const done = useRef(/** @type {Record<string, any>} */ ({}))
  const running = useAction()
  const create = useCreate()
  const isMade = done.current.module !== undefined // another name would not change it
  const faults = running.error?.fields ?? {}
  const submit = () => running.run(async () => onDone(await setUp(done.current, name, create)))
  return html`<${FormDialog} title=${t.setUp} action=${t.setUpNow} values=${name} running=${running} known=${isMade ? {} : t.setUpErrors}
    isShown=${path => path === "name" || path === "slug"} submit=${submit} onClose=${onClose}><p>${t.setUpHint}</p>
    <${TextField} label=${t.setUpName} hint=${t.setUpNameHint} required maxlength="255" readonly=${isMade || running.isBusy} value=${name} onInput=${setName}
      error=${faults.name ?? faults.slug} /><//>`
}
