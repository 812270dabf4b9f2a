// Loading of what a component shows.
import { session } from "./session.js"
import { useStore } from "./store.js"
import { useEffect, useState } from "./view.js"

/**
 * Calls `load` when one of `inputs` changes, and after a new sign-in if the session had ended. A reply that is no longer
 * needed is dropped.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {any[]} inputs
 * @returns {{ data: T | null, error: any, isLoading: boolean, reload: () => void, set: (data: T) => void }}
 */
export const useLoad = (load, inputs) => {
  const [state, show] = useState(/** @type {{ data: T | null, error: any, isLoading: boolean }} */ ({ data: null, error: null, isLoading: true }))
  const [turn, again] = useState(0)
  const { state: access } = useStore(session)
  useEffect(() => void (access === "in" && state.error?.status === 401 && again(turn + 1)), [access])
  useEffect(() => {
    const control = new AbortController()
    show(before => ({ ...before, error: null, isLoading: true }))
    load(control.signal).then(
      data => control.signal.aborted || show({ data, error: null, isLoading: false }),
      error => control.signal.aborted || show({ data: null, error, isLoading: false }))
    return () => control.abort()
  }, [...inputs, turn])
  return { ...state, reload: () => again(turn + 1), set: data => show({ data, error: null, isLoading: false }) }
}

/**
 * An action of a button: its state, and a function that runs it.
 * @returns {{ isBusy: boolean, error: any, run: (action: () => Promise<any>) => Promise<boolean>, clear: () => void }}
 */
export const useAction = () => {
  const [state, show] = useState({ isBusy: false, error: /** @type {any} */ (null) })
  /** @param {() => Promise<any>} action */
  const run = async action => {
    show({ isBusy: true, error: null })
    try {
      await action()
      show({ isBusy: false, error: null })
      return true
    } catch (error) {
      show({ isBusy: false, error })
      return false
    }
  }
  return { ...state, run, clear: () => show({ isBusy: false, error: null }) }
}

/**
 * A list that grows page by page.
 * @template {string} Name
 * @template {Record<Name, any[]> & { next_cursor: string | null }} Page
 * @param {(cursor: string | null, signal?: AbortSignal) => Promise<Page>} fetchPage
 * @param {Name} name of the records in the reply
 * @param {any[]} inputs
 */
export const useList = (fetchPage, name, inputs) => {
  const first = useLoad(signal => fetchPage(null, signal), inputs)
  const more = useAction()
  const loadMore = () => more.run(async () => {
    if (!first.data) return
    const page = await fetchPage(first.data.next_cursor)
    first.set({ ...first.data, next_cursor: page.next_cursor, [name]: [...first.data[name], ...page[name]] })
  })
  /** @type {Page[Name] | never[]} */
  const items = first.data?.[name] ?? []
  return { ...first, items, hasMore: Boolean(first.data?.next_cursor), more, loadMore }
}
