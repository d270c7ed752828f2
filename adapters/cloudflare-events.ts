/** Events, their subscriptions and deliveries in a Durable Object. */
import type { KeyedStore } from '../src/keyed/store.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'
import { type DurableObjectKeyedOptions, KeyedObject, openKeyedObject } from './_cloudflare/keyed.ts'

/** Options of `durableObjectEvents`. */
export type DurableObjectEventsOptions = DurableObjectKeyedOptions

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "EVENTS"
 * class_name = "MayflyEvents"
 *
 * [[migrations]]
 * tag = "mayfly-events-1"
 * new_sqlite_classes = ["MayflyEvents"]
 * ```
 */
export class MayflyEvents extends KeyedObject {
  constructor(state: StorageState) {
    super(state, 'events')
  }
}

/**
 * Creates a store for Events from the binding of `MayflyEvents`. All entries of a name are in one object. While it fails, the store rejects
 * within `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * import { env } from 'cloudflare:workers'
 * events({ types: { incident }, store: durableObjectEvents(env.EVENTS) })
 * ```
 *
 * @throws TypeError without a binding.
 */
export function durableObjectEvents(
  namespace: DurableObjectNamespace,
  options?: DurableObjectEventsOptions,
): KeyedStore {
  const maker = { name: 'durableObjectEvents', type: 'MayflyEvents', entries: 'events' } as const
  return openKeyedObject({ ...maker, page: 'docs/mcp-events-running.md' }, namespace, options)
}
