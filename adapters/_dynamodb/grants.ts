/** Grants of sign-in in a DynamoDB table of their own. */
import type { GrantStore } from '../../src/sign-in/store/store.ts'
import type { DynamoKeyedClient } from './client.ts'
import { type DynamoKeyedOptions, openKeyedItems, toKeyedTable } from './keyed.ts'

/** Options of `dynamoGrants`. */
export type DynamoGrantsOptions = DynamoKeyedOptions

const GRANTS = { name: 'dynamoGrants', table: 'dynamoGrantTable', entries: 'grants' } as const

/**
 * The argument of `createTable` of AWS's client for the table of `dynamoGrants`. Also enable deletion by the attribute `ttl`
 * (`updateTimeToLive`).
 */
export function dynamoGrantTable(table: string): ReturnType<typeof toKeyedTable> {
  return toKeyedTable(GRANTS, table)
}

/**
 * Creates a store of grants in a DynamoDB table, for `signIn` of `mayfly-mcp/sign-in`. Reads are consistent, and each commit is one
 * transaction. All entries of a prefix are in one partition key, since they are listed in order. While DynamoDB is down, it rejects within
 * `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * signIn({ store: dynamoGrants(new DynamoDB({}), { table: 'notes-grants' }), upstream, scopes })
 * ```
 *
 * @param client `new DynamoDB({})`.
 */
export function dynamoGrants(client: DynamoKeyedClient, options: DynamoGrantsOptions): GrantStore {
  return openKeyedItems(GRANTS, client, options)
}
