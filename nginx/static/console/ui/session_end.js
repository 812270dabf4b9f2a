// Says that the session ends soon, and asks the server when it should have ended.
import { get } from "../lib/api.js"
import { useAction } from "../lib/load.js"
import { session } from "../lib/session.js"
import { endOf, idleLifeOf, lastUse, serverNow } from "../lib/session_end.js"
import { useStore } from "../lib/store.js"
import { texts } from "../lib/texts.js"
import { html, useEffect, useState } from "../lib/view.js"
import { Dialog, ErrorBox } from "./parts.js"

const t = texts.app
const INTERVAL = 15_000 // milliseconds
const RETRY = 300_000 // milliseconds before it asks again for the idle time
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" })

/** The current session's idle time: one call, some seconds after the first screen. */
const readIdleLife = async () => idleLifeOf((await get("/v1/sessions", { limit: 100 })).sessions.find(one => one.is_current))

const StayDialog = ({ at, look }) => {
  const staying = useAction()
  const stay = () => void staying.run(async () => {
    await get("/v1/session")
    await look()
  })
  return html`<${Dialog} title=${t.idleTitle} onClose=${stay}><p>${t.idleHint(clock.format(at))}</p>
    ${staying.error && html`<p><strong>${t.notStayed}</strong></p>`}<${ErrorBox} error=${staying.error} />
    <div class="actions"><button type="button" class="primary" disabled=${staying.isBusy} onClick=${stay}>${t.stay}</button></div><//>`
}

/** Looks at the clock now and then, and when the person returns to the page: timers stop while a computer sleeps. */
const useEnd = () => {
  const { state, expiresAt } = useStore(session)
  const [end, show] = useState(null)
  useEffect(() => {
    if (state !== "in" || expiresAt === null) {
      show(null)
      return undefined
    }
    let idleLife = /** @type {number | null | undefined} */ (undefined)
    let askedAt = 0
    const look = async () => {
      if (idleLife === undefined && Date.now() - askedAt > RETRY) {
        askedAt = Date.now()
        idleLife = await readIdleLife().catch(() => undefined)
      }
      const next = endOf({ now: serverNow(), used: lastUse(), idleLife: idleLife ?? null, expiresAt })
      if (next.isOver) await get("/v1/session").catch(() => {})
      else show(next.isNear ? { ...next, look } : null)
    }
    const timer = setInterval(look, INTERVAL)
    addEventListener("focus", look)
    return () => {
      clearInterval(timer)
      removeEventListener("focus", look)
    }
  }, [state, expiresAt])
  return end
}

export const SessionEnd = () => {
  const end = useEnd()
  if (end === null) return null
  return end.kind === "idle" ? html`<${StayDialog} at=${end.at} look=${end.look} />` : html`<p class="box warning ends" role="alert">${t.endsAt(clock.format(end.at))}</p>`
}
