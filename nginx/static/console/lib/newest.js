// For answers about what a person is typing, such as a preview: only the newest text is asked for, when the person pauses.

/**
 * `ask` calls `run` with the newest input, `pause` milliseconds after the last one came. One call runs at a time: an input that
 * comes meanwhile is asked for after its answer. So an older answer never follows a newer one.
 * @template Input, Answer
 * @param {{ run: (input: Input, signal: AbortSignal) => Promise<Answer>, onAnswer: (answer: Answer) => void, onError: (error: any) => void,
 *   pause: number, clock?: any }} options
 * @returns {{ ask: (input: Input, wait?: number) => void, forget: () => void, stop: () => void }} forget: drops an input that waits;
 *   stop: ends all, and drops the answer of a call that runs
 */
export const startAsking = ({ run, onAnswer, onError, pause, clock = globalThis }) => {
  const control = new AbortController()
  let timer = 0
  let isBusy = false
  let waiting = /** @type {{ input: Input } | null} */ (null)
  const turn = async () => {
    timer = 0
    if (isBusy || !waiting) return
    const { input } = waiting
    waiting = null
    isBusy = true
    try {
      const answer = await run(input, control.signal)
      if (!control.signal.aborted) onAnswer(answer)
    } catch (error) {
      if (!control.signal.aborted) onError(error)
    }
    isBusy = false
    if (!timer) turn() // the pause of an input that came meanwhile is over
  }
  const forget = () => {
    clock.clearTimeout(timer)
    timer = 0
    waiting = null
  }
  /** @param {Input} input */
  const ask = (input, wait = pause) => {
    forget()
    waiting = { input }
    timer = clock.setTimeout(turn, wait)
  }
  const stop = () => {
    control.abort()
    forget()
  }
  return { ask, forget, stop }
}
