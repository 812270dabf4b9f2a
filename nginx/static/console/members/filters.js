// The filters of the list of members that are used less often.
import { getFirst } from "../lib/api.js"
import { formatDay, formatNumber, formatTime } from "../lib/format.js"
import { isolate } from "../lib/isolate.js"
import { useLoad } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { replaceQuery, route } from "../lib/router.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { filters as t } from "../lib/texts_members.js"
import { html, useState } from "../lib/view.js"
import { ErrorBox, SelectField, TextField } from "../ui/parts.js"
import { QueryField } from "../ui/search.js"
import { attributeKeys, attributeName } from "./conditions.js"

const LIMIT = 5 // attributes of a search
const MOST_IMPORTS = 1000 // that the list of imports has
const COUNTRY = /^(?:[a-z]{2})?$/i
const ANY = ["", t.any]

const set = (name, value) => replaceQuery({ ...route.get().query, [name]: value })

const Value = ({ attribute: { key, label, type, choices }, disabled }) => {
  const name = attributeName(key)
  const { query } = useStore(route)
  const options = type === "boolean" ? [["true", texts.parts.yes], ["false", texts.parts.no]]
    : type === "single_choice" || type === "multi_choice" ? choices.map(one => [one, one]) : null
  if (options) {
    return html`<${SelectField} label=${label} value=${query[name] ?? ""} options=${[ANY, ...options]} onChange=${text => set(name, text)} />`
  }
  return html`<${QueryField} name=${name} label=${label} type=${type === "date" ? "date" : "text"} placeholder=${t.exact}
    inputmode=${type === "number" ? "decimal" : undefined} maxlength="255" disabled=${disabled} />`
}

/** registry: null until it is loaded. The fields have their places before. */
const Attributes = ({ registry }) => {
  const { query } = useStore(route)
  const [added, add] = useState([])
  const keys = [...new Set([...attributeKeys(query), ...added])]
  const remove = key => {
    add(added.filter(one => one !== key))
    set(attributeName(key), "")
  }
  const options = [["", t.choose], ...(registry ?? []).filter(({ key }) => !keys.includes(key)).map(({ key, label }) => [key, label])]
  const known = key => registry?.find(one => one.key === key) ?? { key, label: key, type: "text" }
  return html`${keys.map(known).map(attribute => html`
    <div class="removable" key=${attribute.key}><${Value} attribute=${attribute} disabled=${!registry} />
      <button type="button" class="small" aria-label=${t.remove(attribute.label)} onClick=${() => remove(attribute.key)}>×</button></div>`)}
    ${keys.length < LIMIT ? html`<${SelectField} label=${t.add} value="" disabled=${!registry} options=${options} onChange=${key => add([...added, key])} />`
      : html`<p class="faint">${t.atMost}</p>`}`
}

/** The imports that added members, the newest first. */
const importsWithMembers = async signal => {
  const { records } = await getFirst(MOST_IMPORTS, "/v1/imports", "imports", undefined, signal)
  return records.filter(job => job.created_count + job.attached_count > 0)
}

/** A moment that a link to the list has, instead of a day. */
const Since = ({ moment }) => html`<div class="removable wide"><${TextField} label=${t.since} value=${formatTime(moment)} readonly />
  <button type="button" class="small" aria-label=${t.remove(t.since)} onClick=${() => set("since", "")}>×</button></div>`

/** imports: null until they are loaded. */
const importOptions = (imports, chosen) => {
  const options = [["", t.imports], ...(imports ?? []).map(job => [job.id, `${isolate(job.file_name)}, ${formatDay(job.created_at)}`])]
  if (chosen && !imports?.some(job => job.id === chosen)) options.push([chosen, t.otherImport])
  return options
}

/** Its fields are drawn at once, so that what is loaded later moves nothing below them. */
export const MoreFilters = () => {
  const { query } = useStore(route)
  const state = useLoad(async signal => {
    const [registry, imports] = await Promise.all([allAttributes(signal), importsWithMembers(signal)])
    return { registry, imports }
  }, [])
  const { registry = null, imports = null } = state.data ?? {}
  return html`<div class="filters" aria-busy=${state.isLoading}><p class="hidden" role="status">${state.isLoading && texts.parts.loading}</p>
      <${QueryField} name="country" label=${t.country} placeholder=${t.countryHint} maxlength="2" accepts=${COUNTRY} />
      ${query.since?.includes("T") ? html`<${Since} moment=${query.since} />` : html`<${QueryField} name="since" label=${t.since} type="date" />`}
      <${SelectField} label=${t.import} hint=${t.newestImports(formatNumber(MOST_IMPORTS))} disabled=${!imports} value=${query.import ?? ""} options=${importOptions(imports, query.import)}
        onChange=${id => set("import", id)} />
      <${Attributes} registry=${registry} /></div>
    <${ErrorBox} error=${state.error} retry=${state.reload} />`
}
