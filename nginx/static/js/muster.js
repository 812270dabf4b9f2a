// Muster tracking, see docs/engagement.md: <script src="https://…/js/muster.js" data-key="ek_live_…" async>
(() => {
  const { src, dataset } = document.currentScript
  const url = new URL("/v1/track?key=" + dataset.key, src)
  const log = (...what) => "debug" in dataset && console.log("muster:", ...what)
  const id = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), n => n.toString(36)).join("-")
  let visitor = id()
  try { visitor = localStorage.muster_id ||= visitor } catch { /* blocked */ }
  let queue = [], timer, tries = 0, busy

  const later = ms => timer ||= setTimeout(send, ms)
  // A beacon carries 64 KiB.
  const take = () => {
    let n = 0, size = 0
    while (n < 50 && n < queue.length && (size += queue[n].length) < 2e4) n++
    return queue.splice(0, n || 1)
  }
  const body = batch => `{"events":[${batch}]}`

  const send = async () => {
    clearTimeout(timer)
    timer = 0
    if (busy || !queue[0]) return
    busy = take()
    let again
    try {
      const reply = await fetch(url, { method: "POST", body: body(busy), keepalive: true })
      again = reply.status == 429 || reply.status > 499
      log(reply.status, await reply.text())
    } catch (e) { log(e, again = true) }
    if (again && tries++ < 6) queue.unshift(...busy)
    else tries = 0
    busy = 0
    if (queue[0]) later(1000 * 2 ** tries)
  }

  const leave = () => {
    while (queue[0]) {
      const batch = take()
      if (navigator.sendBeacon(url, body(batch))) continue
      queue.unshift(...batch)
      return later(2000)
    }
  }
  addEventListener("pagehide", leave)
  document.addEventListener("visibilitychange", () => document.hidden && leave())

  const track = (action, event = {}) => {
    const known = event.user_id || event.member_id || event.member_external_id
    const full = { action, client_event_id: id(), ...(!known && { anonymous_id: visitor }), ...event }
    log(full)
    if (queue.length < 500) queue.push(JSON.stringify(full))
    queue.length > 19 && !tries ? send() : later(2000)
  }
  const early = window.muster?.q
  window.muster = { track, q: { push: call => track(...call) } }
  early?.forEach?.(call => track(...call))
})()
