// The organization's events of the last 24 hours.
import { address } from "../lib/router.js"
import { texts } from "../lib/texts.js"
import { events as t } from "../lib/texts_pages.js"
import { html } from "../lib/view.js"
import { Empty, ErrorBox, Loading, Title } from "../ui/parts.js"
import { LiveState, useLiveEvents } from "./live.js"
import { EventTable } from "./table.js"

const PAGE = 50 // events

const Events = ({ live }) => (live.page.events.length === 0
  ? html`<${Empty} title=${t.none}><p>${t.noneHint}</p><p><a href=${address(["page-keys"])}>${t.noneLink}</a></p><//>`
  : html`<${EventTable} events=${live.page.events} known=${live.known} />
    ${live.page.next_cursor && html`<p><button type="button" disabled=${live.older.isBusy} onClick=${live.showOlder}>
      ${live.older.isBusy ? texts.parts.loading : t.older}</button></p>`}<${ErrorBox} error=${live.older.error} isLow=${true} />`)

export default () => {
  const live = useLiveEvents(PAGE)
  return html`<${Title} text=${t.title} /><p>${t.hint}</p><${LiveState} live=${live} />
    ${live.page === null ? !live.error && html`<${Loading} />` : html`<${Events} live=${live} />`}
    <${ErrorBox} error=${live.error} isLow=${live.page !== null} />`
}
