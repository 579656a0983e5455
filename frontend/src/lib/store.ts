import { useSyncExternalStore } from "react"

/** A value outside React that components can watch. */
export interface Store<T> {
  get: () => T
  set: (next: T) => void
  subscribe: (listener: () => void) => () => void
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A store that is kept in the browser under `key`, in its tab alone if so asked; what cannot be read is the fallback. */
export function createStoredStore<T>(key: string, fallback: T, kept: "browser" | "tab" = "browser"): Store<T> {
  const storage = kept === "tab" ? () => sessionStorage : () => localStorage
  const store = createStore<T>(read(storage, key, fallback))
  return {
    ...store,
    set: (next) => {
      store.set(next)
      try {
        storage().setItem(key, JSON.stringify(next))
      } catch {
        // A browser that forbids storage forgets the choice with the tab.
      }
    },
  }
}

function read<T>(storage: () => Storage, key: string, fallback: T): T {
  try {
    const kept = storage().getItem(key)
    return kept === null ? fallback : (JSON.parse(kept) as T)
  } catch {
    return fallback
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)
