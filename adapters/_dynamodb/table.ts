/** The table for tasks, and the store's operations on it: each is one conditional write or one consistent read. */
import { memberOf } from '../../src/definition/error-text.ts'
import type { Ask } from '../_bus/ask.ts'
import type { DynamoClient, DynamoValue, KeptItem } from './client.ts'

type Names = Record<string, string>
type Values = Record<string, DynamoValue>

export const DUE_INDEX = 'due'

export interface Table {
  get(key: string): Promise<KeptItem | undefined>
  /** Resolves with the previous attributes, which may be empty; false if the condition does not hold. */
  put(key: string, item: Values, condition: string, names: Names, values: Values): Promise<KeptItem | false>
  /** Resolves with the attributes that were written; false if the condition does not hold. */
  update(
    key: string,
    expression: string,
    condition: string,
    names: Names,
    values: Values,
  ): Promise<KeptItem | false>
  remove(key: string, condition: string, names: Names, values: Values): Promise<void>
  /** Pages of the index, with `keyOf` undone. */
  due(
    shard: string,
    now: number,
    limit: number,
    start?: object,
  ): Promise<{ readonly items: readonly Due[]; readonly next?: object }>
  /** A page of the table's items whose keys begin so. Undefined if the client cannot scan. */
  readonly scan:
    | ((
        begin: string,
        filter: string,
        names: Names,
        values: Values,
        limit: number,
        after: string | undefined,
      ) => Promise<{ readonly items: readonly (readonly [key: string, KeptItem])[]; readonly next?: string }>)
    | undefined
}

export interface Due {
  readonly key: string
  readonly dueAt: number
}

/**
 * The argument of `createTable` of AWS's client for the table of `dynamoTaskStore`. Also enable deletion by the attribute `ttl`
 * (`updateTimeToLive`).
 */
export function dynamoTaskTable(table: string) {
  if (typeof table !== 'string') throw new TypeError('dynamoTaskTable needs the name of the table.')
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' as const },
      { AttributeName: 'dueShard', AttributeType: 'S' as const },
      { AttributeName: 'dueAt', AttributeType: 'N' as const },
    ],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' as const }],
    GlobalSecondaryIndexes: [
      {
        IndexName: DUE_INDEX,
        KeySchema: [
          { AttributeName: 'dueShard', KeyType: 'HASH' as const },
          { AttributeName: 'dueAt', KeyType: 'RANGE' as const },
        ],
        Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: ['expiresAt'] },
      },
    ],
  }
}

const missingTasks = (name: string): string =>
  `The DynamoDB table "${name}" of the tasks, or its index "${DUE_INDEX}", is missing: create it with dynamoTaskTable().`

/** @param prefix The prefix of every key, which may be known only when the table is used. @param missing What to say if there is no such table. */
export function openTable(
  client: DynamoClient,
  TableName: string,
  prefix: () => string,
  askClient: Ask,
  missing = missingTasks,
): Table {
  const keyOf = (key: string): Values => ({ pk: { S: `${prefix()}#${key}` } })
  const ask: Ask = async (command) => {
    try {
      return await askClient(command)
    } catch (error) {
      if (memberOf(error, 'name') !== 'ResourceNotFoundException') throw error
      throw new Error(missing(TableName), { cause: error })
    }
  }
  const ifHolds = async <Reply>(command: () => Promise<Reply>): Promise<Reply | false> => {
    try {
      return await ask(command)
    } catch (error) {
      if (memberOf(error, 'name') === 'ConditionalCheckFailedException') return false
      throw error
    }
  }
  return {
    async get(key) {
      return (await ask(() => client.getItem({ TableName, Key: keyOf(key), ConsistentRead: true }))).Item
    },
    async put(key, item, ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues) {
      const written = await ifHolds(() =>
        client.putItem({
          TableName,
          Item: { ...keyOf(key), ...item },
          ConditionExpression,
          ExpressionAttributeNames,
          ExpressionAttributeValues,
          ReturnValues: 'ALL_OLD',
        }),
      )
      return written && (written.Attributes ?? {})
    },
    async update(
      key,
      UpdateExpression,
      ConditionExpression,
      ExpressionAttributeNames,
      ExpressionAttributeValues,
    ) {
      const written = await ifHolds(() =>
        client.updateItem({
          TableName,
          Key: keyOf(key),
          UpdateExpression,
          ConditionExpression,
          ExpressionAttributeNames,
          ExpressionAttributeValues,
          ReturnValues: 'UPDATED_NEW',
        }),
      )
      return written && (written.Attributes ?? {})
    },
    async remove(key, ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues) {
      await ifHolds(() =>
        client.deleteItem({
          TableName,
          Key: keyOf(key),
          ConditionExpression,
          ExpressionAttributeNames,
          ExpressionAttributeValues,
        }),
      )
    },
    async due(shard, now, limit, start) {
      const { Items = [], LastEvaluatedKey } = await ask(() =>
        client.query({
          TableName,
          IndexName: DUE_INDEX,
          KeyConditionExpression: '#shard = :shard AND #dueAt <= :now',
          FilterExpression: 'attribute_not_exists(#expiresAt) OR #expiresAt > :now',
          ExpressionAttributeNames: { '#shard': 'dueShard', '#dueAt': 'dueAt', '#expiresAt': 'expiresAt' },
          ExpressionAttributeValues: { ':shard': { S: `${prefix()}#${shard}` }, ':now': { N: String(now) } },
          Limit: limit,
          // From the previous page, unchanged.
          ...(start !== undefined && { ExclusiveStartKey: start as Record<string, never> }),
        }),
      )
      const items = Items.map(({ pk, dueAt }) => ({
        key: pk!.S!.slice(prefix().length + 1),
        dueAt: Number(dueAt!.N),
      }))
      return { items, ...(LastEvaluatedKey !== undefined && { next: LastEvaluatedKey }) }
    },
    scan:
      client.scan &&
      (async (begin, filter, names, values, limit, after) => {
        const { Items = [], LastEvaluatedKey } = await ask(() =>
          client.scan!({
            TableName,
            ConsistentRead: true,
            FilterExpression: `begins_with(#pk, :begin) AND ${filter}`,
            ExpressionAttributeNames: { '#pk': 'pk', ...names },
            ExpressionAttributeValues: { ':begin': { S: `${prefix()}#${begin}` }, ...values },
            Limit: limit,
            ...(after !== undefined && { ExclusiveStartKey: { pk: { S: after } } }),
          }),
        )
        const items = Items.map((item) => [item.pk!.S!.slice(prefix().length + 1), item] as const)
        const next = LastEvaluatedKey?.pk?.S
        return { items, ...(next !== undefined && { next }) }
      }),
  }
}
