/**
 * The bus: how one request tells the streams of others that something changed.
 */

export type ChangeEvent =
  | { readonly type: 'toolsListChanged' }
  | { readonly type: 'promptsListChanged' }
  | { readonly type: 'resourcesListChanged' }
  | { readonly type: 'resourceUpdated'; readonly uri: string }

/** Publishes change events and delivers them to every subscriber it can reach. Delivery is at most once. */
export interface Bus {
  publish(event: ChangeEvent): void | Promise<void>
  /**
   * Calls `listener` for each event from now on, and returns what ends that. `listener` never throws and may be
   * called in the context of another request: it must do no I/O itself.
   */
  subscribe(listener: (event: ChangeEvent) => void): (() => void) | Promise<() => void>
}

/** A bus within one process or isolate. Events published elsewhere do not arrive: use a shared bus for that. */
export function createMemoryBus(): Bus {
  const listeners = new Set<(event: ChangeEvent) => void>()
  return {
    publish(event) {
      for (const listener of listeners) listener(event)
    },
    subscribe(listener) {
      // Wrapped, so that subscribing the same function twice counts twice.
      const entry = (event: ChangeEvent) => listener(event)
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
      }
    },
  }
}
