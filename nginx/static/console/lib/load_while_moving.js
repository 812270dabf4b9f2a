// For one record that the server is changing, such as a running job: it loads the record again until the change stops.
// For a list that grows without an end, such as live events, use repeat.js.
import { isPassing } from "./api.js"
import { useLoad } from "./load.js"
import { useEffect, useRef } from "./view.js"

const PAUSE = 1000 // milliseconds, as the API's Retry-After asks
const PAUSE_AWAY = 3000 // milliseconds while the server cannot be reached

/**
 * As useLoad(). It loads again while isMoving(data), and keeps the data while the server cannot be reached: isAway.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {(data: T) => boolean} isMoving
 * @param {string} key of the record
 */
export const useLoadWhileMoving = (load, isMoving, key) => {
  const last = useRef({ key: "", data: /** @type {T | null} */ (null) })
  const state = useLoad(async signal => {
    try {
      last.current = { key, data: await load(signal) }
      return { data: last.current.data, isAway: false }
    } catch (error) {
      if (last.current.key !== key || !isPassing(error)) throw error
      return { data: last.current.data, isAway: true }
    }
  }, [key])
  const { data, isAway } = state.data ?? { data: null, isAway: false }
  useEffect(() => {
    if (!data || !(isAway || isMoving(data))) return undefined
    const timer = setTimeout(state.reload, isAway ? PAUSE_AWAY : PAUSE)
    return () => clearTimeout(timer)
  }, [state.data])
  return { ...state, data, isAway }
}
