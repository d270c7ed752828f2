/**
 * A DynamoDB that runs here, in front of which stands what its emulator lacks: `TransactWriteItems`, with the parts of its documentation that
 * a client sees. Its conditions are the emulator's own; an item that another transaction has at that time cancels a transaction.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { DynamoItem, TransactItem } from '../../../adapters/_dynamodb/client.ts'
import { dynamoGrantTable } from '../../../adapters/dynamodb.ts'
import { eventually } from '../../_eventually.ts'
import { type Client, connectDynamo, require, TABLE } from './_dynamo-client.ts'

export { type Client, connectDynamo, TABLE }

export interface Dynamo {
  readonly port: number
  /** How many transactions met another one. */
  readonly met: () => number
  stop(): Promise<void>
}

/** With the table `TABLE`. */
export async function startDynamo(): Promise<Dynamo> {
  const dynalite = require('dynalite') as (options: object) => Server
  const emulator = dynalite({ createTableMs: 0 }).listen(0, '127.0.0.1')
  await once(emulator, 'listening')
  const inner = (emulator.address() as AddressInfo).port
  const client = connectDynamo(inner)
  await client.createTable(dynamoGrantTable(TABLE))
  await eventually(async () =>
    expect((await client.describeTable({ TableName: TABLE })).Table.TableStatus).toBe('ACTIVE'),
  )
  const { transact, met } = createTransactions(client)
  const front = createServer(async (incoming, outgoing) => {
    if (incoming.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems')
      answer(outgoing, await transact(JSON.parse(await text(incoming)) as Transaction))
    else forward(incoming, outgoing, inner)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    port: (front.address() as AddressInfo).port,
    met,
    async stop() {
      client.destroy()
      for (const server of [front, emulator]) {
        server.closeAllConnections()
        await new Promise((closed) => server.close(closed))
      }
    },
  }
}

interface Transaction {
  readonly TransactItems: readonly TransactItem[]
  readonly ClientRequestToken?: string
}

type Answer = { readonly status: number; readonly body: object }

const refused = (type: string, more: object): Answer => ({
  status: 400,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...more },
})

function createTransactions(client: Client) {
  /** Whose transaction has an item. */
  const held = new Map<string, symbol>()
  /** A token is known for ten minutes: the client itself repeats a request that has lost its answer. */
  const known = new Map<string, string>()
  let met = 0

  const cancelled = (codes: readonly string[]): Answer =>
    refused('TransactionCanceledException', {
      Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
      CancellationReasons: codes.map((Code) => ({ Code })),
    })
  const apply = async (items: readonly TransactItem[]): Promise<Answer> => {
    const codes = await Promise.all(items.map((item) => codeOf(client, item)))
    if (codes.some((code) => code !== 'None')) return cancelled(codes)
    for (const { Put, Delete } of items) {
      if (Put) await client.putItem({ TableName: Put.TableName, Item: Put.Item })
      if (Delete) await client.deleteItem({ TableName: Delete.TableName, Key: Delete.Key })
    }
    return { status: 200, body: {} }
  }
  return {
    met: () => met,
    async transact({ TransactItems: items, ClientRequestToken: token }: Transaction): Promise<Answer> {
      const content = JSON.stringify(items)
      if (token !== undefined && known.has(token))
        return known.get(token) === content
          ? { status: 200, body: {} }
          : refused('IdempotentParameterMismatchException', {})
      const keys = items.map(keyOf)
      if (items.length > 100 || new Set(keys).size < keys.length)
        return refused('ValidationException', {
          message: 'Too many items, or several operations on one item',
        })
      const conflicts = keys.map((key) => (held.has(key) ? 'TransactionConflict' : 'None'))
      if (conflicts.includes('TransactionConflict')) {
        met++
        return cancelled(conflicts)
      }
      const own = Symbol('transaction')
      for (const key of keys) held.set(key, own)
      try {
        const outcome = await apply(items)
        if (token !== undefined && outcome.status === 200) known.set(token, content)
        return outcome
      } catch (error) {
        return refused('ValidationException', { message: String(error) })
      } finally {
        for (const key of keys) held.delete(key)
      }
    },
  }
}

const placeOf = ({ Put, Delete, ConditionCheck }: TransactItem): { TableName: string; Key: DynamoItem } => {
  const { TableName, ...rest } = (Put ?? Delete ?? ConditionCheck)!
  const { pk, sk } = 'Item' in rest ? rest.Item : rest.Key
  return { TableName, Key: { pk: pk!, sk: sk! } }
}

const keyOf = (item: TransactItem): string => JSON.stringify(placeOf(item))

/** By the emulator's own parser of conditions. */
async function codeOf(client: Client, item: TransactItem): Promise<'None' | 'ConditionalCheckFailed'> {
  const { validateExpressions } = require('dynalite/validations') as {
    validateExpressions(data: object): string | undefined
  }
  const { checkConditional } = require('dynalite/db') as {
    checkConditional(data: object, existing: object | undefined): Error | null | undefined
  }
  const demand = structuredClone((item.Put ?? item.Delete ?? item.ConditionCheck)!)
  if (demand.ConditionExpression === undefined) return 'None'
  const fault = validateExpressions(demand)
  if (fault) throw new Error(fault)
  const { TableName, Key } = placeOf(item)
  const { Item } = await client.getItem({ TableName, Key, ConsistentRead: true })
  return checkConditional(demand, Item) ? 'ConditionalCheckFailed' : 'None'
}

function answer(outgoing: ServerResponse, { status, body }: Answer): void {
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url: path, headers } = incoming
  const forwarded = request({ hostname: '127.0.0.1', port, method, path, headers }, (response) => {
    outgoing.writeHead(response.statusCode!, response.headers)
    response.pipe(outgoing)
  })
  incoming.pipe(forwarded)
  forwarded.once('error', () => outgoing.destroy())
}
