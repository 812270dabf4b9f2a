// For a list that grows without an end, such as live events: it repeats a call while its tab is shown, a limited number of times.
// For one record that the server is changing, such as a running job, use load_while_moving.js.

/**
 * Calls `run` at once, and again some time after it is done, `most` times. A turn that is due in a hidden tab waits until the
 * tab is shown. `run` returns whether to continue; `onEnd` is called after the last turn.
 * @param {{ run: () => Promise<boolean>, interval: number, most: number, onEnd: () => void, page?: any, clock?: any }} options
 *     interval: in milliseconds
 * @returns {() => void} a function that stops it
 */
export const startRepeating = ({ run, interval, most, onEnd, page = document, clock = globalThis }) => {
  let timer = 0
  let turns = 0
  let isBusy = false
  let isStopped = false
  const stop = () => {
    isStopped = true
    clock.clearTimeout(timer)
    page.removeEventListener("visibilitychange", onShown)
  }
  const turn = async () => {
    timer = 0
    if (isStopped || isBusy || page.hidden) return
    isBusy = true
    turns += 1
    const isOn = await run()
    isBusy = false
    if (isStopped) return
    if (isOn && turns < most) timer = clock.setTimeout(turn, interval)
    else {
      stop()
      onEnd()
    }
  }
  const onShown = () => void (timer || turn())
  page.addEventListener("visibilitychange", onShown)
  turn()
  return stop
}
