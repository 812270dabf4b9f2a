// A value that several components show. They draw again when it changes.
import { useEffect, useState } from "./view.js"

/**
 * @template {object} T
 * @param {T} initial
 */
export const createStore = initial => {
  let value = initial
  /** @type {Set<() => void>} */
  const listeners = new Set()
  return {
    get: () => value,
    /** @param {Partial<T>} changes */
    set(changes) {
      value = { ...value, ...changes }
      for (const listener of [...listeners]) listener()
    },
    /** @param {() => void} listener */
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/**
 * The current value of a store, in a component.
 * @template T
 * @param {{ get: () => T, subscribe: (listener: () => void) => () => void }} store
 */
export const useStore = store => {
  const [value, show] = useState(store.get())
  useEffect(() => {
    show(store.get())
    return store.subscribe(() => show(store.get()))
  }, [store])
  return value
}
