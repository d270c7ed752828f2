/** API keys in a DynamoDB table: an item for each. */
import { type Names, requireOptions } from '../../src/definition/unknown-option.ts'
import type { OutageOptions } from '../../src/events/outage.ts'
import { fromRecord, type KeyStore, type StoredKey, toRecord } from '../../src/keys/store.ts'
import { requireClient } from '../_bus/client.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import type { DynamoClient, KeptItem } from './client.ts'
import { openTable } from './table.ts'

/** Options of `dynamoKeyStore`. */
export interface DynamoKeyStoreOptions extends Pick<OutageOptions, 'timeoutMs'> {
  /** A table as `dynamoKeyTable` or `dynamoTaskTable` describes it: keys and tasks may share one. */
  readonly table: string
  /** Prefix of the keys, if several servers share one table. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<DynamoKeyStoreOptions> = { table: 'string', prefix: 'string', timeoutMs: [0] }

/** The argument of `createTable` of AWS's client for the table of `dynamoKeyStore`. */
export function dynamoKeyTable(table: string) {
  if (typeof table !== 'string') throw new TypeError('dynamoKeyTable needs the name of the table.')
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' as const }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' as const }],
  }
}

/**
 * Creates a store of API keys in a DynamoDB table, for `apiKeys` of `mayfly-mcp/keys`. Reads are consistent. While DynamoDB is down, it
 * rejects within `timeoutMs` (default 5000).
 *
 * @param client `new DynamoDB({})`.
 */
export function dynamoKeyStore(client: DynamoClient, options: DynamoKeyStoreOptions): KeyStore {
  requireClient('dynamoKeyStore', client, '@aws-sdk/client-dynamodb')
  requireOptions('dynamoKeyStore', options, OPTIONS, 'table')
  const { prefix = 'mayfly' } = options
  const ask = createStoreAsk(options, 'DynamoDB')
  const table = openTable(
    client,
    options.table,
    () => prefix,
    ask,
    (name) => {
      return `The DynamoDB table "${name}" of the API keys is missing: create it with dynamoKeyTable().`
    },
  )
  const exists = { '#pk': 'pk' }
  return {
    async create(key) {
      // Expressions without values are not allowed.
      const condition = 'attribute_not_exists(#pk) AND NOT #pk = :none'
      const values = { ':none': { S: 'none' } }
      const written = await table.put(
        nameOf(key.id),
        { record: { S: toRecord(key) } },
        condition,
        exists,
        values,
      )
      return written !== false
    },
    async read(id) {
      const item = await table.get(nameOf(id))
      return item && toKey(item)
    },
    async list({ limit, after }) {
      if (table.scan === undefined) throw new TypeError('dynamoKeyStore needs a client with "scan" to list.')
      const filter = 'attribute_exists(#record)'
      const { items, next } = await table.scan(nameOf(''), filter, { '#record': 'record' }, {}, limit, after)
      return { keys: items.map(([, item]) => toKey(item)), ...(next !== undefined && { next }) }
    },
    async revoke(id, revokedAt) {
      const set = 'SET #revoked = if_not_exists(#revoked, :at)'
      const names = { ...exists, '#revoked': 'revokedAt' }
      const values = { ':at': { N: String(revokedAt) } }
      return (await table.update(nameOf(id), set, 'attribute_exists(#pk)', names, values)) !== false
    },
    async use(id, lastUsedAt) {
      const condition = 'attribute_exists(#pk) AND (attribute_not_exists(#used) OR #used < :at)'
      const names = { ...exists, '#used': 'lastUsedAt' }
      await table.update(nameOf(id), 'SET #used = :at', condition, names, {
        ':at': { N: String(lastUsedAt) },
      })
    },
  }
}

function nameOf(id: string): string {
  return `key#${id}`
}

function toKey({ record, revokedAt, lastUsedAt }: KeptItem): StoredKey {
  return fromRecord(record?.S ?? '', { revokedAt: revokedAt?.N, lastUsedAt: lastUsedAt?.N })
}
