/** Events, their subscriptions and deliveries in a DynamoDB table of their own. */
import type { KeyedStore } from '../../src/keyed/store.ts'
import type { DynamoKeyedClient } from './client.ts'
import { type DynamoKeyedOptions, openKeyedItems, toKeyedTable } from './keyed.ts'

/** Options of `dynamoEvents`. */
export type DynamoEventsOptions = DynamoKeyedOptions

const EVENTS = { name: 'dynamoEvents', table: 'dynamoEventTable', entries: 'events' } as const

/**
 * The argument of `createTable` of AWS's client for the table of `dynamoEvents`. Also enable deletion by the attribute `ttl`
 * (`updateTimeToLive`).
 */
export function dynamoEventTable(table: string): ReturnType<typeof toKeyedTable> {
  return toKeyedTable(EVENTS, table)
}

/**
 * Creates a store for Events in a DynamoDB table. Reads are consistent, and each commit is one transaction. All entries of a prefix are in
 * one partition key: DynamoDB writes about 250 commits of one entry a second to it. While DynamoDB is down, it rejects within `timeoutMs` (default
 * 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * events({ types: { incident }, store: dynamoEvents(new DynamoDB({}), { table: 'shop-events' }) })
 * ```
 *
 * @param client `new DynamoDB({})`.
 */
export function dynamoEvents(client: DynamoKeyedClient, options: DynamoEventsOptions): KeyedStore {
  return openKeyedItems(EVENTS, client, options)
}
