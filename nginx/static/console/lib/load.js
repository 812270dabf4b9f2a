// Loading of what a component shows.
import { session } from "./session.js"
import { useStore } from "./store.js"
import { useEffect, useState } from "./view.js"

/**
 * @template T
 * @typedef {{ data: T | null, error: any, isLoading: boolean }} Loading
 */

/**
 * Calls `load` when one of `inputs` changes, and after a new sign-in if the session had ended. A reply that is no longer
 * needed is dropped.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {any[]} inputs
 * @returns {Loading<T> & { reload: () => void, set: (data: T) => void, change: (step: (now: Loading<T>) => Loading<T>) => void }}
 */
export const useLoad = (load, inputs) => {
  const [state, show] = useState(/** @type {Loading<T>} */ ({ data: null, error: null, isLoading: true }))
  const [turn, again] = useState(0)
  const { state: access } = useStore(session)
  useEffect(() => void (access === "in" && state.error?.status === 401 && again(now => now + 1)), [access])
  useEffect(() => {
    const control = new AbortController()
    show(before => ({ ...before, error: null, isLoading: true }))
    load(control.signal).then(
      data => control.signal.aborted || show({ data, error: null, isLoading: false }),
      error => control.signal.aborted || show({ data: null, error, isLoading: false }))
    return () => control.abort()
  }, [...inputs, turn])
  return { ...state, reload: () => again(now => now + 1), set: data => show({ data, error: null, isLoading: false }), change: show }
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
 * A list with a further page. The page is dropped if the list was loaded again, or is being loaded, since it was asked for: it
 * belongs to other filters, or misses what was removed.
 * @param {Loading<any>} list @param {any} before the data of the list when the page was asked for @param {any} page @param {string} name
 */
export const withPage = (list, before, page, name) => (list.isLoading || list.data !== before ? list
  : { ...list, data: { ...before, next_cursor: page.next_cursor, [name]: [...before[name], ...page[name]] } })

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
    const { data, isLoading } = first
    if (!data || isLoading) return
    const page = await fetchPage(data.next_cursor)
    first.change(now => withPage(now, data, page, name))
  })
  /** @type {Page[Name] | never[]} */
  const items = first.data?.[name] ?? []
  return { ...first, items, hasMore: Boolean(first.data?.next_cursor), more, loadMore }
}
