// The short way to a first endpoint: creates, publishes and installs a module. A step that failed is repeated, and the others are not.
import { post } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { useAction } from "../lib/load.js"
import { session } from "../lib/session.js"
import { route } from "../lib/router.js"
import { modules as m } from "../lib/texts_modules.js"
import { endpoints as t } from "../lib/texts_webhooks.js"
import { html, useRef, useState } from "../lib/view.js"
import { slugOf } from "../articles/fields.js"
import { FormDialog } from "../ui/dialogs.js"
import { TextField } from "../ui/parts.js"

const FIRST_VERSION = "1.0.0"
const LONGEST_SLUG = 63

/** A short name that the API accepts: it begins with a letter, and has two characters. @param {string} name */
export const shortNameOf = name => {
  const slug = slugOf(name)
  return (/^[a-z]./.test(slug) ? slug : `module-${slug}`).slice(0, LONGEST_SLUG).replace(/-$/, "")
}

const vendor = () => session.get().seats.find(seat => seat.organization_id === route.get().organization)?.name ?? ""

/** `done` keeps the results of the steps. @param {Record<string, any>} done @param {string} name @param {any} create of useCreate() */
export const setUp = async (done, name, create) => {
  done.module ??= await create("/v1/modules", { name, slug: shortNameOf(name), vendor: vendor() })
  const path = `/v1/modules/${done.module.id}/versions`
  done.version ??= await create(path, { version: FIRST_VERSION, manifest: { name: done.module.name } })
  done.published ??= await post(`${path}/${done.version.id}/publish`)
  done.installation ??= await create("/v1/installations", { module_id: done.module.id, config: {} })
  return done
}

export const SetUp = ({ onDone, onClose }) => {
  const [name, setName] = useState("")
  const done = useRef({})
  const running = useAction()
  const create = useCreate()
  const submit = () => running.run(async () => onDone(await setUp(done.current, name, create)))
  return html`<${FormDialog} title=${t.setUp} action=${t.setUpNow} values=${name} running=${running} known=${m.createErrors} isShown=${path => path === "name"}
    submit=${submit} onClose=${onClose}><p>${t.setUpHint}</p>
    <${TextField} label=${t.setUpName} hint=${t.setUpNameHint} required maxlength="255" value=${name} onInput=${setName} error=${running.error?.fields?.name} /><//>`
}
