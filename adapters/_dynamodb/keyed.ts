/** A transactional store in a DynamoDB table of its own: an item for each entry, and a transaction for each commit. */
import { backoffMs } from '../../src/definition/backoff.ts'
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { keepUnlessFailed } from '../../src/definition/keep-unless-failed.ts'
import { type Names, requireOptions } from '../../src/definition/unknown-option.ts'
import type { OutageOptions } from '../../src/events/outage.ts'
import { compareKeys, isEntryKey, RECEIPT_MS, toCommit, toRange } from '../../src/keyed/commit.ts'
import type { KeyedStore, KeyedWrite } from '../../src/keyed/store.ts'
import type { Ask } from '../_bus/ask.ts'
import { requireClient } from '../_bus/client.ts'
import { createStoreAsk, STORE_TIMEOUT_MS } from '../_tasks/store-ask.ts'
import type { Demand, DynamoKeyedClient, DynamoValue, KeptItem, TransactItem } from './client.ts'

/** Options of a store in DynamoDB. */
export interface DynamoKeyedOptions extends Pick<OutageOptions, 'timeoutMs'> {
  /** A table as `dynamoGrantTable` or `dynamoEventTable` describes it. */
  readonly table: string
  /** Prefix of the keys, if several servers share one table. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<DynamoKeyedOptions> = { table: 'string', prefix: 'string', timeoutMs: [0] }

/** Smaller differences of the clocks are not known. */
const MEASURED_TO_MS = 5000

/** The delays after which a transaction is tried again that met another one. */
const CONFLICTS = { firstMs: 20, maxMs: 500 }

/** What makes such a store: `name` and `table` are functions, for errors, and `entries` a part of each key. */
export interface DynamoMaker {
  readonly name: string
  readonly table: string
  readonly entries: 'grants' | 'events'
}

/** The argument of `createTable` of AWS's client. */
export function toKeyedTable(maker: DynamoMaker, table: string) {
  if (typeof table !== 'string') throw new TypeError(`${maker.table} needs the name of the table.`)
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' as const },
      { AttributeName: 'sk', AttributeType: 'S' as const },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' as const },
      { AttributeName: 'sk', KeyType: 'RANGE' as const },
    ],
  }
}

export function openKeyedItems(
  maker: DynamoMaker,
  client: DynamoKeyedClient,
  options: DynamoKeyedOptions,
): KeyedStore {
  requireClient(maker.name, client, '@aws-sdk/client-dynamodb')
  requireOptions(maker.name, options, OPTIONS, 'table')
  const { table: TableName, prefix = 'mayfly', timeoutMs = STORE_TIMEOUT_MS } = options
  const ask = askTable(createStoreAsk(options, 'DynamoDB'), TableName, maker)
  const pk = { S: `${prefix}#${maker.entries}` }
  const keyOf = (key: string) => ({ pk, sk: { S: key } })
  // DynamoDB has no clock that an expression could use, but its client measures AWS's, by a header in whole seconds.
  const clockOffsetMs = (): number => {
    const { systemClockOffset: offsetMs = 0 } = client.config ?? {}
    return Math.abs(offsetMs) < MEASURED_TO_MS ? 0 : offsetMs
  }
  const now = (): number => Date.now() + clockOffsetMs()
  const get = async (key: string): Promise<KeptItem | undefined> =>
    (await ask(() => client.getItem({ TableName, Key: keyOf(key), ConsistentRead: true }))).Item
  const put = (key: string, value: string, version: string, expiresAt: number | undefined) => ({
    TableName,
    Item: {
      ...keyOf(key),
      value: { S: value },
      version: { S: version },
      ...(expiresAt !== undefined && {
        expiresAt: { N: String(expiresAt) },
        ttl: { N: String(Math.ceil(expiresAt / 1000)) },
      }),
    },
  })
  const toItems = (write: KeyedWrite, version: string): TransactItem[] => {
    const { key, value, expiresAt, isCheck } = write
    const demand = demandOf(write, now())
    const place = { TableName, Key: keyOf(key) }
    if (isCheck === true) return demand === undefined ? [] : [{ ConditionCheck: { ...place, ...demand } }]
    if (value === undefined) return [{ Delete: { ...place, ...demand } }]
    return [{ Put: { ...put(key, value, version, expiresAt), ...demand } }]
  }

  // It has measured nothing before its first answer.
  const firstAnswer = keepUnlessFailed(() => get('clock'), 'table')
  return {
    async clockOffsetMs() {
      await firstAnswer()
      return clockOffsetMs()
    },
    async read(key) {
      const item = isEntryKey(key) ? await get(key) : undefined
      const expiresAt = item?.expiresAt?.N === undefined ? undefined : Number(item.expiresAt.N)
      if (item === undefined || (expiresAt !== undefined && expiresAt <= now())) return undefined
      return {
        value: item.value?.S ?? '',
        version: item.version?.S ?? '',
        ...(expiresAt !== undefined && { expiresAt }),
      }
    },
    async commit(given, made) {
      const { version, writes, receipt, digest } = await toCommit(given, made)
      const endsAt = Date.now() + timeoutMs
      for (let tries = 1; ; tries++) {
        const first = { key: receipt, value: digest, expiresAt: now() + RECEIPT_MS, ifVersion: null }
        const TransactItems = [first, ...writes].flatMap((write) => toItems(write, version))
        const outcome = await ask(() => client.transactWriteItems({ TransactItems })).then(
          () => 'made',
          toOutcome,
        )
        if (outcome === 'made') return true
        // The answer to an earlier try of this commit may have been lost.
        if (outcome === 'refused') return (await get(receipt))?.value?.S === digest
        const delayMs = backoffMs(tries, CONFLICTS)
        if (Date.now() + delayMs >= endsAt)
          throw new Error('DynamoDB is overloaded: the same entries are written by others all the time.')
        // At random, so that those that met do not meet again.
        await new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random())))
      }
    },
    async list(options) {
      const range = toRange(options)
      if (range === undefined) return { keys: [] }
      const { from, to, after, limit } = range
      if (compareKeys(after, to) >= 0) return { keys: [] }
      const { Items = [], LastEvaluatedKey } = await ask(() =>
        client.query({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: `#pk = :pk AND ${options.prefix === '' ? '#sk >= :from' : 'begins_with(#sk, :from)'}`,
          FilterExpression: 'attribute_not_exists(#expiresAt) OR #expiresAt > :now',
          ProjectionExpression: '#sk',
          ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk', '#expiresAt': 'expiresAt' },
          ExpressionAttributeValues: {
            ':pk': pk,
            ':from': { S: from },
            ':now': { N: String(now()) },
          },
          Limit: limit,
          ...(compareKeys(after, from) >= 0 && { ExclusiveStartKey: keyOf(after) }),
        }),
      )
      const next = LastEvaluatedKey?.sk?.S
      return { keys: Items.map(({ sk }) => sk!.S!), ...(next !== undefined && { next }) }
    },
  }
}

function demandOf({ ifVersion }: KeyedWrite, now: number): Demand | undefined {
  if (ifVersion === undefined) return undefined
  const values: Record<string, DynamoValue> = { ':now': { N: String(now) } }
  if (ifVersion === null)
    return {
      ConditionExpression: 'attribute_not_exists(#pk) OR #expiresAt <= :now',
      ExpressionAttributeNames: { '#pk': 'pk', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: values,
    }
  return {
    ConditionExpression: '#version = :version AND (attribute_not_exists(#expiresAt) OR #expiresAt > :now)',
    ExpressionAttributeNames: { '#version': 'version', '#expiresAt': 'expiresAt' },
    ExpressionAttributeValues: { ...values, ':version': { S: ifVersion } },
  }
}

/**
 * What a failed transaction says. `met`: another transaction or write had one of the items at that time, so that nothing was compared.
 *
 * @throws whatever else has failed.
 */
function toOutcome(error: unknown): 'refused' | 'met' {
  if (memberOf(error, 'name') === 'TransactionInProgressException') return 'met'
  if (memberOf(error, 'name') !== 'TransactionCanceledException') throw error
  const reasons = memberOf(error, 'CancellationReasons')
  const codes = Array.isArray(reasons) ? reasons.map((reason) => memberOf(reason, 'Code')) : []
  if (codes.includes('ConditionalCheckFailed')) return 'refused'
  if (codes.includes('TransactionConflict')) return 'met'
  throw error
}

function askTable(askClient: Ask, table: string, maker: DynamoMaker): Ask {
  return async (command) => {
    try {
      return await askClient(command)
    } catch (error) {
      const isOther =
        memberOf(error, 'name') === 'ValidationException' && /schema|key condition/i.test(textOf(error))
      if (!isOther && memberOf(error, 'name') !== 'ResourceNotFoundException') throw error
      throw new Error(
        `The DynamoDB table "${table}" of ${maker.entries} is missing, or has other keys: create it with ${maker.table}().`,
        { cause: error },
      )
    }
  }
}
