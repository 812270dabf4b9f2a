// Loading of what a component shows.
import { notePages, takePages } from "./returning.js"
import { session } from "./session.js"
import { useStore } from "./store.js"
import { useEffect, useLayoutEffect, useRef, useState } from "./view.js"

/**
 * `key`: the inputs that data and error belong to, and the number of the load.
 * @template T
 * @typedef {{ data: T | null, error: any, isLoading: boolean, key: any[] }} Loading
 */

/** @param {any[]} one @param {any[]} other */
const isSame = (one, other) => one.length === other.length && one.every((value, index) => Object.is(value, other[index]))

/**
 * A load that failed keeps the data of the same inputs, so that a form below the error keeps its text.
 * @param {Loading<any>} before @param {any[]} key @param {any} error
 */
export const withError = (before, key, error) =>
  ({ data: isSame(before.key.slice(0, -1), key.slice(0, -1)) ? before.data : null, error, isLoading: false, key })

/** A list of functions that wait for something; those that come after the end of a component do not wait. */
const useWaiting = () => {
  const waiting = useRef(/** @type {Array<() => void> | null} */ ([]))
  const release = () => waiting.current?.splice(0).forEach(go => go())
  useEffect(() => () => {
    release()
    waiting.current = null
  }, [])
  /** @param {() => void} go */
  const wait = go => (waiting.current ? void waiting.current.push(go) : go())
  return { wait, release }
}

/**
 * Calls `load` when one of `inputs` changes, and after a new sign-in if the session had ended. A reply that is no longer
 * needed is dropped. isOld: the data are those of other inputs, because the reply for the current ones is not there yet.
 * reload: the promise resolves when the reply, or a later one, was read.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {any[]} inputs
 * @returns {Loading<T> & { isOld: boolean, reload: () => Promise<void>, set: (data: T) => void,
 *   change: (step: (now: Loading<T>) => Loading<T>) => void }}
 */
export const useLoad = (load, inputs) => {
  const [state, show] = useState(/** @type {Loading<T>} */ ({ data: null, error: null, isLoading: true, key: [] }))
  const [turn, again] = useState(0)
  const { wait, release } = useWaiting()
  const { state: access } = useStore(session)
  const key = [...inputs, turn]
  const latest = useRef(key)
  latest.current = key
  /** @param {Loading<T>} now @returns {Loading<T>} */
  const seen = now => (isSame(now.key, latest.current) ? { ...now, isLoading: false } : { ...now, error: null, isLoading: true })
  const current = seen(state)
  useEffect(() => void (access === "in" && state.error?.status === 401 && again(now => now + 1)), [access])
  useEffect(() => {
    const control = new AbortController()
    /** @param {(now: Loading<T>) => Loading<T>} next */
    const settle = next => {
      if (control.signal.aborted) return
      show(next)
      release()
    }
    load(control.signal).then(data => settle(() => ({ data, error: null, isLoading: false, key })), error => settle(now => withError(now, key, error)))
    return () => control.abort()
  }, key)
  return {
    ...current,
    isOld: state.data !== null && !isSame(state.key.slice(0, -1), inputs),
    reload: () => new Promise(resolve => {
      wait(resolve)
      again(now => now + 1)
    }),
    set: data => show(now => ({ ...now, data, error: null })),
    change: step => show(now => step(seen(now))),
  }
}

/**
 * An action of a button: its state, and a function that runs it. A browser takes the focus from a button that is disabled
 * while the action runs, so the button gets it back.
 * @returns {{ isBusy: boolean, error: any, run: (action: () => Promise<any>) => Promise<boolean>, clear: () => void }}
 */
export const useAction = () => {
  const [state, show] = useState({ isBusy: false, error: /** @type {any} */ (null) })
  const pressed = useRef(/** @type {Element | null} */ (null))
  useLayoutEffect(() => {
    if (state.isBusy) return
    const before = pressed.current
    pressed.current = null
    if (before instanceof HTMLElement && before.isConnected && document.activeElement === document.body) before.focus({ preventScroll: true })
  }, [state.isBusy])
  /** @param {() => Promise<any>} action */
  const run = async action => {
    pressed.current = document.activeElement
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

const MOST_PAGES = 20 // that are read at once

/** The data of a list with a further page. @param {any} data @param {any} page @param {string} name */
const withMore = (data, page, name) =>
  ({ ...data, pages: (data.pages ?? 1) + 1, next_cursor: page.next_cursor, [name]: [...data[name], ...page[name]] })

/**
 * The first pages of a list as one.
 * @param {(cursor: string | null, signal?: AbortSignal) => Promise<any>} fetchPage @param {string} name @param {number} count
 * @param {AbortSignal} [signal]
 */
export const readPages = async (fetchPage, name, count, signal) => {
  let data = await fetchPage(null, signal)
  for (let read = 1; read < Math.min(count, MOST_PAGES) && data.next_cursor; read++) {
    data = withMore(data, await fetchPage(data.next_cursor, signal), name)
  }
  return data
}

/**
 * A list with a further page. The page is dropped if the list was loaded again, or is being loaded, since it was asked for: it belongs to other filters, or misses what was removed.
 * @param {Loading<any>} list @param {any} before the data of the list when the page was asked for @param {any} page @param {string} name
 */
export const withPage = (list, before, page, name) => (list.isLoading || list.data !== before ? list
  : { ...list, data: withMore(before, page, name) })

/**
 * A list that grows page by page. isExtended: it has more than its first page. A list that is read again, after an action, by the
 * button "Back" of the browser or because `turn` changed, has as many pages as before.
 * @template {string} Name
 * @template {Record<Name, any[]> & { next_cursor: string | null }} Page
 * @param {(cursor: string | null, signal?: AbortSignal) => Promise<Page>} fetchPage
 * @param {Name} name of the records in the reply
 * @param {any[]} inputs
 * @param {any} [turn]
 */
export const useList = (fetchPage, name, inputs, turn) => {
  const wanted = useRef({ inputs: /** @type {any[] | null} */ (null), pages: 1 })
  const first = useLoad(signal => {
    const { current } = wanted
    if (!current.inputs || !isSame(current.inputs, inputs)) wanted.current = { inputs, pages: takePages(name) }
    return /** @type {Promise<Page>} */ (readPages(fetchPage, name, wanted.current.pages, signal))
  }, [...inputs, turn])
  const pages = Number(/** @type {any} */ (first.data)?.pages ?? 1)
  useLayoutEffect(() => {
    if (first.data && !first.isOld) wanted.current.pages = pages
    notePages(name, pages)
    return () => notePages(name, 0)
  }, [name, pages, first.isOld])
  const more = useAction()
  useEffect(() => void (more.error && more.clear()), [first.data]) // the error belongs to the list before
  const loadMore = () => more.run(async () => {
    const { data, isLoading } = first
    if (!data || isLoading) return
    const page = await fetchPage(data.next_cursor)
    first.change(now => withPage(now, data, page, name))
  })
  /** @type {Page[Name] | never[]} */
  const items = first.data?.[name] ?? []
  return { ...first, items, isExtended: pages > 1, hasMore: Boolean(first.data?.next_cursor), more, loadMore }
}
