// A new campaign, and the changes of one. If-Match rejects them if another admin has changed the campaign.
import { announce } from "../lib/announce.js"
import { getAll, ifMatch } from "../lib/api.js"
import { useCreate } from "../lib/create.js"
import { callExactly, getExactly, jsonOf } from "../lib/exact.js"
import { useAction, useLoad } from "../lib/load.js"
import { allAttributes } from "../lib/registry.js"
import { address, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { ads as t, slots as s } from "../lib/texts_ads.js"
import { differs, useTyped, useUnsaved } from "../lib/unsaved.js"
import { html, useLayoutEffect, useState } from "../lib/view.js"
import { Empty, Loaded, Title } from "../ui/parts.js"
import { changesOf, fieldsOf, newCampaignOf } from "./fields.js"
import { CampaignForm } from "./form.js"

let loads = 0 // each load fills the form again

const load = async (id, signal) => {
  const [campaign, slots, attributes] = await Promise.all([
    id && getExactly(`/console/v1/ads/campaigns/${id}`, undefined, signal), getAll("/console/v1/ads/slots", "slots", undefined, signal),
    allAttributes(signal)])
  loads += 1
  return { campaign, slots, registry: attributes.filter(one => one.enabled), number: loads }
}

const NewCampaign = ({ slots, registry, mayChange }) => {
  const [fields, setFields] = useState(fieldsOf({ slot_ids: slots.length === 1 ? [slots[0].id] : [] }))
  const saving = useAction()
  const make = useCreate()
  const open = useOpen()
  useTyped(fields, saving.isBusy)
  const create = () => saving.run(async () => {
    const campaign = await make("/console/v1/ads/campaigns", undefined, { json: jsonOf(newCampaignOf(fields, registry)) })
    announce(t.created)
    open(["ads", campaign.id])
  })
  return html`<${Title} text=${t.newTitle} />
    <${CampaignForm} fields=${fields} setFields=${setFields} slots=${slots} registry=${registry} saving=${saving} action=${t.createNow}
      isNew=${true} mayChange=${mayChange} onSubmit=${create} cancel=${address(["ads"])} />`
}

const EditCampaign = ({ campaign, slots, registry, number, mayChange, reload }) => {
  const [fields, setFields] = useState(fieldsOf(campaign))
  const saving = useAction()
  const open = useOpen()
  useUnsaved(differs(fields, fieldsOf(campaign)) && !saving.isBusy)
  useLayoutEffect(() => {
    setFields(fieldsOf(campaign))
    saving.clear()
  }, [number])
  const save = () => saving.run(async () => {
    await callExactly("PATCH", `/console/v1/ads/campaigns/${campaign.id}`, { body: changesOf(campaign, fields, registry), headers: ifMatch(campaign) })
    announce(t.saved)
    open(["ads", campaign.id])
  })
  return html`<${Title} text=${t.editTitle(campaign.name)} />
    <${CampaignForm} fields=${fields} setFields=${setFields} slots=${slots} registry=${registry} saving=${saving} action=${texts.parts.save}
      record=${campaign} mayChange=${mayChange} onSubmit=${save} onReload=${reload} cancel=${address(["ads", campaign.id])} />`
}

const NoSlots = () => html`<${Title} text=${t.newTitle} /><${Empty} title=${t.noSlots}><p>${t.noSlotsHint}</p>
  <p><a class="button primary" href=${address(["slots"])}>${s.create}</a></p><//>`

/** An admin who becomes a viewer keeps the form, and cannot send it. */
export default ({ id, role }) => {
  const mayChange = role !== "viewer"
  const state = useLoad(signal => load(id, signal), [id])
  return html`<p><a href=${address(["ads"])}>${t.back}</a></p><${Loaded} state=${state} title=${id ? texts.screens.editCampaign : texts.screens.newCampaign}>${data => {
    if (data.campaign) return html`<${EditCampaign} ...${data} mayChange=${mayChange} reload=${state.reload} />`
    return data.slots.length === 0 ? html`<${NoSlots} />` : html`<${NewCampaign} ...${data} mayChange=${mayChange} />`
  }}<//>`
}
