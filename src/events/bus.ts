/**
 * The bus: tells the streams of other requests that something changed. Transports fail, so every wait has a time limit, and a listener that
 * throws does not affect the others.
 */
import { callHook } from '../definition/hook.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import { bytesOver } from '../definition/utf8.ts'
import { toReport } from './outage.ts'

/** A changed list, or a changed resource. */
export type Change =
  | { readonly type: 'toolsListChanged' }
  | { readonly type: 'promptsListChanged' }
  | { readonly type: 'resourcesListChanged' }
  | { readonly type: 'resourceUpdated'; readonly uri: string }

/**
 * A change, or a gap: events may have been lost, so every subscriber is notified that its data may have changed. A bus that was
 * disconnected calls its listeners with a gap when it is back.
 */
export type ChangeEvent = Change | { readonly type: 'gap' } | SessionChange

/**
 * A legacy client subscribed to a resource, or unsubscribed: for the streams of its session, in any process. Without `uri`, the session
 * ended. Published by the server itself.
 */
export interface SessionChange {
  readonly type: 'sessionChanged'
  readonly session: string
  readonly uri?: string
  readonly isSubscribed: boolean
}

const TYPES = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged', 'gap', 'sessionChanged']

/** Whether a value received over a transport is a change event. */
export function isChangeEvent(value: unknown): value is ChangeEvent {
  const { type, uri } = (value ?? {}) as { type?: unknown; uri?: unknown }
  return type === 'resourceUpdated' ? typeof uri === 'string' : TYPES.includes(type as string)
}

/** Maximum bytes of an event as JSON, on every bus. A subscription cannot name a URI that would need more. */
export const MAX_EVENT_BYTES = 1_000_000

/** @returns the event as JSON. @throws TypeError for an event that no bus carries. */
export function checkEventSize(event: ChangeEvent): string {
  const text = JSON.stringify(event)
  const bytes = bytesOver(text, MAX_EVENT_BYTES)
  if (bytes !== undefined)
    throw new TypeError(
      `A change event of ${bytes} bytes is not sent: at most ${MAX_EVENT_BYTES} are allowed. Use a shorter URI.`,
    )
  return text
}

type Listener = (event: ChangeEvent) => void

/** Publishes change events and delivers them to every subscriber it can reach. Delivery is at most once. */
export interface Bus {
  /** Publishes an event to all subscribers. The server calls it with events of at most 1 000 000 bytes of JSON. */
  publish(event: ChangeEvent): void | Promise<void>
  /**
   * Calls `listener` for each event from now on. Returns a function that ends this. `listener` never throws and may be
   * called in the context of another request: it must not do I/O itself.
   */
  subscribe(listener: (event: ChangeEvent) => void): (() => void) | Promise<() => void>
  /**
   * Set it if a subscription cannot outlive its request, because the platform binds connections to requests: each stream then subscribes
   * and unsubscribes in its own request. Otherwise one subscription serves all streams of a process or isolate.
   */
  readonly isRequestBound?: boolean
  /** Whether it only reaches one process or isolate. `mayfly doctor` warns where a platform runs several. */
  readonly isLocal?: boolean
  /**
   * Called by the server that takes it, before anything else. The names of channels should contain `owner.name()`, so that servers and
   * stages that share a transport do not hear each other.
   */
  attach?(owner: StoreOwner): void
}

/** Creates a bus within one process or isolate. Events from other processes do not arrive: use a shared bus for several. */
export function createMemoryBus(): Bus {
  const listeners = new Set<Listener>()
  return {
    isLocal: true,
    publish(event) {
      checkEventSize(event)
      deliver(event, listeners)
    },
    subscribe: (listener) => add(listener, listeners),
  }
}

/** Adds a listener, and returns a function that removes it. Adding the same function twice counts twice. */
export function add(listener: Listener, listeners: Set<Listener>): () => void {
  const entry: Listener = (event) => listener(event)
  listeners.add(entry)
  return () => void listeners.delete(entry)
}

/** Calls every listener. Errors go to the console; the other listeners are still called. */
export function deliver(event: ChangeEvent, listeners: Iterable<Listener>): void {
  const report = toReport({}, 'A listener of the bus')
  for (const listener of listeners) {
    callHook(() => listener(event), report)
  }
}
