/**
 * The bus: how one request tells the streams of others that something changed. Transports fail: nothing here waits for one without
 * end, and no listener keeps others from hearing.
 */
import { callHook } from '../definition/hook.ts'
import { toReport } from './outage.ts'

export type ChangeEvent =
  | { readonly type: 'toolsListChanged' }
  | { readonly type: 'promptsListChanged' }
  | { readonly type: 'resourcesListChanged' }
  | { readonly type: 'resourceUpdated'; readonly uri: string }

const TYPES = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged']

/** Whether something that came over a transport is a change. */
export function isChangeEvent(value: unknown): value is ChangeEvent {
  const { type, uri } = (value ?? {}) as { type?: unknown; uri?: unknown }
  return type === 'resourceUpdated' ? typeof uri === 'string' : TYPES.includes(type as string)
}

type Listener = (event: ChangeEvent) => void

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
  const listeners = new Set<Listener>()
  return {
    publish: (event) => deliver(event, listeners),
    subscribe: (listener) => add(listener, listeners),
  }
}

/** Adds a listener, and returns what removes it. The same function twice counts twice. */
export function add(listener: Listener, listeners: Set<Listener>): () => void {
  const entry: Listener = (event) => listener(event)
  listeners.add(entry)
  return () => void listeners.delete(entry)
}

/** Calls every listener. What one throws goes to the console, and keeps no other from hearing. */
export function deliver(event: ChangeEvent, listeners: Iterable<Listener>): void {
  const report = toReport({}, 'A listener of the bus')
  for (const listener of listeners) {
    callHook(() => listener(event), report)
  }
}
