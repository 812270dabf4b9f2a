import { Dispatch, StateUpdater } from "preact/hooks"
export * from "preact/hooks"

// A state or reference that begins as null or as an empty list has any type. To have its type checked: useState(/** @type {Api.User | null} */ (null)).
export function useState(initial: null): [any, Dispatch<StateUpdater<any>>]
export function useState(initial: never[]): [any[], Dispatch<StateUpdater<any[]>>]
export function useState<S>(initial: S | (() => S)): [S, Dispatch<StateUpdater<S>>]
export function useState<S = undefined>(): [S | undefined, Dispatch<StateUpdater<S | undefined>>]
export function useRef(initial: null): { current: any }
export function useRef<T>(initial: T): { current: T }
