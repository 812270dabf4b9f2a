// One campaign: its state, limits and creatives, its figures by day, and what an admin can do with it.
import { announce } from "../lib/announce.js"
import { call, get, getAll, ifMatch } from "../lib/api.js"
import { useConflict } from "../lib/conflict.js"
import { getExactly } from "../lib/exact.js"
import { formatNumber, formatTime } from "../lib/format.js"
import { useLoadedDialog } from "../lib/dialog.js"
import { isolate } from "../lib/isolate.js"
import { useAction, useLoad } from "../lib/load.js"
import { address, useOpen } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { ads as t } from "../lib/texts_ads.js"
import { html } from "../lib/view.js"
import { FormDialog } from "../ui/dialogs.js"
import { ErrorBox, Facts, Loaded, Title } from "../ui/parts.js"
import { Creatives } from "./creatives.js"
import { Figures, sumOf } from "./figures.js"
import { Remarks, StateBadge, servedOf, sizeOf } from "./parts.js"

const ALL_DAYS = 366 // the most that the API returns

/** The figures of one campaign, which the API has only in a list of all. */
const figuresOf = async (id, signal) =>
  (await getAll("/console/v1/ads/figures", "campaigns", { days: 1 }, signal)).find(one => one.campaign_id === id)

const load = async (id, signal) => {
  const [campaign, slots, creatives, figures] = await Promise.all([
    getExactly(`/console/v1/ads/campaigns/${id}`, undefined, signal), getAll("/console/v1/ads/slots", "slots", undefined, signal),
    getAll("/console/v1/ads/creatives", "creatives", { campaign_id: id }, signal), figuresOf(id, signal)])
  return { campaign, slots: slots.filter(slot => campaign.slot_ids.includes(slot.id)), creatives, figures }
}

/** Whom the campaign is shown to, as lines. @returns {string[]} */
export const audienceOf = ({ countries, locales, tags, attributes }) => [
  ...Object.entries({ countries, locales, tags }).filter(([, values]) => values.length > 0).map(([name, values]) => t.oneOf(t.targets[name], values)),
  ...Object.entries(attributes).map(([key, value]) => t.is(key, typeof value === "boolean" ? texts.parts[value ? "yes" : "no"] : String(value))),
]

const Lines = ({ lines, empty }) => (lines.length ? html`<ul class="plain-list">${lines.map(line => html`<li>${line}</li>`)}</ul>` : empty)

const State = ({ campaign, slots, figures }) => html`<${Facts} pairs=${[
  [t.facts.state, html`<${StateBadge} reasons=${figures.not_shown_because} /><${Remarks} figures=${figures} />
    ${figures.not_shown_because.length === 0 && html`<p class="remark">${t.running}</p>`}`],
  [t.facts.slots, html`<${Lines} lines=${slots.map(slot => `${isolate(slot.name)} (${sizeOf(slot)})`)} empty="–" />`],
  [t.facts.period, t.runs(formatTime(campaign.starts_at), campaign.ends_at && formatTime(campaign.ends_at))],
  [t.facts.daily, campaign.daily_impressions === null ? t.noLimit : t.daily(campaign.daily_impressions)],
  [t.facts.today, campaign.daily_impressions === null ? undefined : servedOf(figures)],
  [t.facts.cap, campaign.frequency_cap === null ? t.noLimit : t.cap(campaign.frequency_cap)],
  [t.facts.weight, formatNumber(campaign.weight)],
  [t.facts.targeting, html`<${Lines} lines=${audienceOf(campaign.targeting)} empty=${t.allVisitors} />`],
  [t.facts.updated, formatTime(campaign.updated_at)]]} />`

/** All figures of a campaign by day, which its deletion deletes. */
const allDays = async campaign => (await get(`/console/v1/ads/campaigns/${campaign.id}/stats`, { days: ALL_DAYS })).days

const Delete = ({ campaign, creatives, days, onReload, onClose }) => {
  const deleting = useAction()
  const open = useOpen()
  const remove = () => deleting.run(async () => {
    await call("DELETE", `/console/v1/ads/campaigns/${campaign.id}`, { headers: ifMatch(campaign) })
    announce(t.deleted(campaign.name))
    open(["ads"])
  })
  return html`<${FormDialog} title=${t.deleteTitle(campaign.name)} action=${t.delete} kind="danger" record=${campaign} running=${deleting}
    known=${t.conflict} submit=${remove} onClose=${onClose} onReload=${onReload}><p>${t.deleteHint}</p>
    <ul>${t.deleteList(creatives.length, sumOf(days)).map(line => html`<li>${line}</li>`)}</ul>
    <p>${t.deleteLinks}</p>${campaign.status === "active" && html`<p>${t.pauseInstead}</p>`}<//>`
}

const Actions = ({ campaign, running, toggle, opening, ask }) => html`
  <button type="button" class=${campaign.status === "paused" ? "primary" : ""} disabled=${running.isBusy} onClick=${toggle}>
    ${campaign.status === "paused" ? t.start : t.pause}</button>
  <a class="button" href=${address(["ads", campaign.id, "edit"])}>${texts.parts.edit}</a>
  <button type="button" class="danger" disabled=${opening.isBusy} onClick=${ask}>${t.delete}</button>`

const Campaign = ({ campaign, slots, creatives, figures, isAdmin, reload }) => {
  const { dialog, askWith, opening, close } = useLoadedDialog()
  const running = useAction()
  const messages = useConflict(running.error, t.conflict, campaign)
  const toggle = () => running.run(async () => {
    const status = campaign.status === "paused" ? "active" : "paused"
    await call("PATCH", `/console/v1/ads/campaigns/${campaign.id}`, { body: { status }, headers: ifMatch(campaign) })
    await reload()
    announce(status === "active" ? t.started : t.pausedNow)
  })
  const again = () => {
    running.clear()
    reload()
  }
  return html`<${Title} text=${campaign.name} actions=${isAdmin && html`
      <${Actions} campaign=${campaign} running=${running} toggle=${toggle} opening=${opening} ask=${() => askWith({}, () => allDays(campaign))} />`} />
    <${ErrorBox} error=${opening.error} />
    <${ErrorBox} error=${running.error} known=${messages} retry=${running.error?.code === "PRECONDITION_FAILED" ? again : undefined}
      retryText=${texts.parts.showCurrent} />
    <${State} campaign=${campaign} slots=${slots} figures=${figures} />
    <${Creatives} campaign=${campaign} slots=${slots} creatives=${creatives} isAdmin=${isAdmin} reload=${reload} />
    <${Figures} campaign=${campaign} />
    ${dialog && html`<${Delete} campaign=${campaign} creatives=${creatives} days=${dialog.data} onReload=${reload} onClose=${close} />`}`
}

export default ({ id, role }) => {
  const state = useLoad(signal => load(id, signal), [id])
  return html`<p><a href=${address(["ads"])}>${t.back}</a></p><${Loaded} state=${state} title=${texts.screens.campaign}>${data => html`
    <${Campaign} key=${id} ...${data} isAdmin=${role !== "viewer"} reload=${state.reload} />`}<//>`
}
