/**
 * Subscriptions of legacy clients on a stateless server. A separate entry point, so that it is loaded only if it is used.
 */
import { refuseUnknown } from './definition/unknown-option.ts'
import {
  createMemoryStore,
  SUBSCRIPTION_OPTIONS,
  type SubscriptionStoreOptions,
} from './events/subscription-store.ts'
import type { Subscriptions } from './protocol/engine-options.ts'
import { createSubscriptions } from './protocol/session-streams.ts'

export type {
  SubscriptionHolder,
  SubscriptionStore,
  SubscriptionStoreOptions,
} from './events/subscription-store.ts'
export type { Subscriptions } from './protocol/engine-options.ts'
export { createSubscriptions } from './protocol/session-streams.ts'

/** Creates subscriptions that are stored in one process. */
export function createMemorySubscriptions(options: SubscriptionStoreOptions = {}): Subscriptions {
  refuseUnknown('createMemorySubscriptions', options, SUBSCRIPTION_OPTIONS)
  return createSubscriptions(createMemoryStore(options))
}
