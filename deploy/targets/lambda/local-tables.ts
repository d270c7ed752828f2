/**
 * The local tables of connections and events, which all execution environments share: of DynamoDB's protocol what `dynamoGrants` and
 * `dynamoEvents` send, in memory. dynalite has no `TransactWriteItems`. What is for other tables goes to it, if it runs.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { KeptItem, TransactItem } from '../../../adapters/_dynamodb/client.ts'
import { compareKeys } from '../../../src/keyed/commit.ts'
import { type KeyedTable, variableOf } from './keyed-template.ts'

type Item = KeptItem

/** Parameters of the operations, which have names of their own in `adapters/_dynamodb/keyed.ts`. */
interface Input {
  readonly TableName?: string
  readonly Key?: Item
  readonly TransactItems?: readonly TransactItem[]
  readonly ClientRequestToken?: string
  readonly KeyConditionExpression?: string
  readonly ExpressionAttributeValues?: Item
  readonly Limit?: number
  readonly ExclusiveStartKey?: Item
}

interface Answer {
  readonly status: number
  readonly body: object
}

/** @param others Where requests for other tables go. Resolves with the variables that direct the store and AWS's client to it. */
export async function startLocalTables(
  tables: readonly KeyedTable[],
  others?: string,
): Promise<{ readonly [name: string]: string }> {
  const known = new Map<string, Table>(tables.map((table) => [table, createTable()]))
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming)
    const answer = answerOf(known, String(incoming.headers['x-amz-target']), body)
    if (answer !== undefined) return send(outgoing, answer)
    if (others !== undefined) return forward(incoming, outgoing, body, others)
    send(
      outgoing,
      refused('ResourceNotFoundException', {
        message: `only these tables are here: ${[...known.keys()].join(', ')}`,
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return {
    ...Object.fromEntries(tables.map((table) => [variableOf(table), table])),
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
}

/** Undefined: it is for another table, or for none. */
function answerOf(tables: ReadonlyMap<string, Table>, target: string, body: string): Answer | undefined {
  const input = JSON.parse(body || '{}') as Input
  switch (target.split('.').at(-1)) {
    case 'GetItem':
      return tables.get(input.TableName ?? '')?.get(input)
    case 'Query':
      return tables.get(input.TableName ?? '')?.query(input)
    case 'TransactWriteItems':
      return writtenBy(tables, input)
    default:
      return undefined
  }
}

/** A transaction of the store has one table. */
function writtenBy(tables: ReadonlyMap<string, Table>, { TransactItems = [], ClientRequestToken }: Input) {
  const [name, ...more] = new Set(TransactItems.map((item) => operationOf(item).TableName))
  return more.length > 0 ? undefined : tables.get(name ?? '')?.write(TransactItems, ClientRequestToken)
}

interface Table {
  get(input: Input): Answer
  query(input: Input): Answer
  /** `token`: of a client that repeats a request whose answer was lost. */
  write(items: readonly TransactItem[], token?: string): Answer
}

function createTable(): Table {
  const items = new Map<string, Item>()
  const tokens = new Set<string>()
  const isExpired = ({ expiresAt }: Item, now: number): boolean =>
    expiresAt?.N !== undefined && Number(expiresAt.N) <= now
  /** The two conditions of the store: a version that is compared, or that there is no entry. */
  const isMet = (operation: Operation): boolean => {
    if (operation.ConditionExpression === undefined) return true
    const { ':version': version, ':now': now }: Item = operation.ExpressionAttributeValues ?? {}
    const found = items.get(nameOf(keyOf(operation)))
    const isThere = found !== undefined && !isExpired(found, Number(now?.N))
    return version === undefined ? !isThere : isThere && found.version?.S === version.S
  }
  return {
    get: ({ Key }) => {
      const Item = items.get(nameOf(Key!))
      return { status: 200, body: { ...(Item !== undefined && { Item }) } }
    },
    query: ({ KeyConditionExpression = '', ExpressionAttributeValues = {}, Limit, ExclusiveStartKey }) => {
      const { ':pk': pk, ':from': from, ':now': now } = ExpressionAttributeValues
      const isPrefix = KeyConditionExpression.includes('begins_with')
      const isIn = (sk: string): boolean =>
        isPrefix ? sk.startsWith(from!.S!) : compareKeys(sk, from!.S!) >= 0
      const after = ExclusiveStartKey?.sk?.S
      const found = [...items.values()]
        .filter((item) => item.pk!.S === pk!.S && isIn(item.sk!.S!))
        .filter(({ sk }) => after === undefined || compareKeys(sk!.S!, after) > 0)
        .sort((a, b) => compareKeys(a.sk!.S!, b.sk!.S!))
      const page = found.slice(0, Limit)
      const last = page.length < found.length ? page.at(-1) : undefined
      const Items = page.filter((item) => !isExpired(item, Number(now?.N))).map(({ sk }) => ({ sk }))
      const LastEvaluatedKey = last && { pk: last.pk, sk: last.sk }
      return { status: 200, body: { Items, ...(LastEvaluatedKey !== undefined && { LastEvaluatedKey }) } }
    },
    write: (given, token = '') => {
      if (tokens.has(token)) return { status: 200, body: {} }
      const codes = given.map((item) => (isMet(operationOf(item)) ? 'None' : 'ConditionalCheckFailed'))
      if (codes.some((code) => code !== 'None'))
        return refused('TransactionCanceledException', {
          Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
          CancellationReasons: codes.map((Code) => ({ Code })),
        })
      for (const { Put, Delete } of given) {
        if (Put !== undefined) items.set(nameOf(Put.Item), Put.Item)
        if (Delete !== undefined) items.delete(nameOf(Delete.Key))
      }
      if (token !== '') tokens.add(token)
      return { status: 200, body: {} }
    },
  }
}

type Operation = NonNullable<TransactItem['Put'] | TransactItem['Delete'] | TransactItem['ConditionCheck']>

const operationOf = ({ Put, Delete, ConditionCheck }: TransactItem): Operation =>
  (Put ?? Delete ?? ConditionCheck)!

const keyOf = (operation: Operation): Item => ('Item' in operation ? operation.Item : operation.Key)

const nameOf = ({ pk, sk }: Item): string => JSON.stringify([pk?.S, sk?.S])

const refused = (type: string, more: object): Answer => ({
  status: 400,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...more },
})

function send(outgoing: ServerResponse, { status, body }: Answer): void {
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
}

function forward({ headers }: IncomingMessage, outgoing: ServerResponse, body: string, to: string): void {
  const forwarded = request(to, { method: 'POST', headers }, (response) => {
    outgoing.writeHead(response.statusCode!, response.headers)
    response.pipe(outgoing)
  })
  forwarded.once('error', () => outgoing.destroy())
  forwarded.end(body)
}
