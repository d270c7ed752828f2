/** Calls of a server of another SDK that end without its answer: for the client, and for the middleware that waits for `next()`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { fromNode } from '../../../src/from-node.ts'
import { type FromSdkOptions, fromSdk, type HostedServer } from '../../../src/sdk.ts'
import { eventually } from '../../_eventually.ts'
import { deferred, legacy, legacyRequest, modern, modernRequest, post } from '../_client.ts'
import { createV1, createV2, type Seen } from './_servers.ts'

type Request = IncomingMessage & { body: { id: unknown } }
type Handler = (request: Request, response: ServerResponse) => unknown

/** Counts the calls that are in it. */
function counting() {
  const seen = { inside: 0, errors: [] as unknown[] }
  const use: NonNullable<FromSdkOptions['use']> = [
    async (_call, next) => {
      seen.inside++
      try {
        return await next()
      } catch (error) {
        seen.errors.push((error as Error).message)
        throw error
      } finally {
        seen.inside--
      }
    },
  ]
  return { seen, use }
}

const json = { 'content-type': 'application/json' }
const stream = { 'content-type': 'text/event-stream' }
const NO_ANSWER = { error: { code: -32603, message: 'Internal error: the server did not answer.' } }

/** What a handler does instead of answering, and the status of the answer. */
const UNANSWERED: [string, number, Handler][] = [
  ['ends with 202', 502, (_request, response) => response.writeHead(202).end()],
  ['ends with 204', 502, (_request, response) => response.writeHead(204).end()],
  ['ends with 304', 502, (_request, response) => response.writeHead(304).end()],
  ['redirects', 502, (_request, response) => response.writeHead(302, { location: '/login' }).end()],
  ['answers with a page', 500, (_request, response) => response.writeHead(500).end('<h1>boom</h1>')],
  ['answers {}', 502, (_request, response) => response.writeHead(200, json).end('{}')],
  [
    'answers with another id',
    502,
    (_request, response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":"b","result":{}}'),
  ],
  [
    'answers with an id alone',
    502,
    ({ body }, response) =>
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: body.id })),
  ],
  ['ends its stream', 200, (_request, response) => response.writeHead(200, stream).end(': nothing\n\n')],
]

const ASKS = [
  ['legacy', legacy],
  ['modern', modern],
] as const

describe.each(ASKS)('a handler that does not answer, %s', (_era, ask) => {
  it.each(UNANSWERED)('%s → %d, and next() throws [tools.middleware]', async (_what, status, handler) => {
    const { seen, use } = counting()
    for (const options of [{}, { use }]) {
      const reports = vi.fn()
      const server = fromNode(handler, { log: false, onError: reports, ...options })
      const answer = await ask(server, 'tools/call', { name: 'x' })
      expect([answer.status, answer.message]).toMatchObject([status, NO_ANSWER])
      expect(reports).toHaveBeenCalledTimes(1)
    }
    expect(seen).toEqual({ inside: 0, errors: [NO_ANSWER.error.message] })
  })

  it('may be answered for by a middleware', async () => {
    const server = fromNode((_request: Request, response: ServerResponse) => response.writeHead(202).end(), {
      log: false,
      onError: () => {},
      use: [(_call, next) => next().catch(() => 'later, please')],
    })
    const { result } = await ask(server, 'tools/call', { name: 'x' })
    expect(result).toMatchObject({ content: [{ text: 'later, please' }] })
  })

  it.each([201, 202, 299])('an answer with status %d is one with 200', async (status) => {
    const server = fromNode(
      ({ body: { id } }: Request, response: ServerResponse) =>
        response.writeHead(status, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })),
      { log: false },
    )
    const answer = await ask(server, 'tools/call', { name: 'x' })
    expect([answer.status, answer.result]).toMatchObject([200, { content: [] }])
  })

  it('an error without an id gets that of the request', async () => {
    const error = { code: -32000, message: 'Not acceptable' }
    for (const [headers, text] of [
      [json, JSON.stringify({ jsonrpc: '2.0', id: null, error })],
      [stream, `data: ${JSON.stringify({ jsonrpc: '2.0', error })}\n\n`],
    ] as const) {
      const handler: Handler = (_request, response) => response.writeHead(200, headers).end(text)
      const { message } = await ask(fromNode(handler, { log: false }), 'tools/call', { name: 'x' })
      expect(message).toEqual({ jsonrpc: '2.0', id: 1, error })
    }
  })
})

it.each(UNANSWERED)(
  'a handler that %s in a batch → an error in its place',
  async (_what, _status, handler) => {
    const { seen, use } = counting()
    const server = fromNode(handler, { log: false, onError: () => {}, use })
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x' } }
    const response = await server.fetch(post([call], { headers: { 'mcp-protocol-version': '2025-03-26' } }))
    expect(await response.json()).toMatchObject([{ id: 7, ...NO_ANSWER }])
    expect(seen.inside).toBe(0)
  },
)

type Create = (seen: Partial<Seen>, options: FromSdkOptions) => HostedServer

const WAITING: [string, typeof legacyRequest, Create][] = [
  [
    'fromNode',
    legacyRequest,
    (seen, options) => fromNode(() => Object.assign(seen, { waiting: 1 }), options),
  ],
  ['SDK v1', legacyRequest, (seen, options) => fromSdk((context) => createV1(context, seen), options)],
  [
    'SDK v2, legacy',
    legacyRequest,
    (seen, options) => fromSdk((context) => createV2(context, seen), options),
  ],
  [
    'SDK v2, modern',
    modernRequest,
    (seen, options) => fromSdk((context) => createV2(context, seen), options),
  ],
]

describe.each(WAITING)('next() of %s throws', (_which, toRequest, create) => {
  const start = (options: FromSdkOptions = {}) => {
    const { seen, use } = counting()
    const waits: Partial<Seen> = {}
    const server = create(waits, { log: false, use, ...options })
    const send = (init: object) =>
      server.handle(toRequest('tools/call', { name: 'wait', arguments: {} }, init), {})
    return { seen, waits, send }
  }

  it.each(['application/json, text/event-stream', 'application/json'])(
    'when the client leaves, Accept %s [tools.middleware]',
    async (accept) => {
      const { seen, waits, send } = start()
      const client = new AbortController()
      const response = send({ signal: client.signal, headers: { accept } })
      await eventually(() => expect(waits.waiting).toBe(1))
      expect(seen.inside).toBe(1)
      client.abort()
      await response
      await eventually(() => expect(seen).toMatchObject({ inside: 0, errors: [expect.any(String)] }))
    },
  )

  it('when its time is over', async () => {
    const { seen, send } = start({ http: { maxCallMs: 200 } })
    await (await send({})).text()
    await eventually(() => expect(seen).toMatchObject({ inside: 0, errors: [expect.any(String)] }))
  })
})

it.each<[string, Handler, string]>([
  ['destroys its request', (request) => request.destroy(), 'The handler destroyed its request.'],
  ['destroys its request with an error', (request) => request.destroy(new Error('torn')), 'torn'],
])('a handler that %s → an error at once, reported', async (_what, handler, reason) => {
  const reports: unknown[] = []
  const onError = (error: unknown) => void reports.push((error as Error).message)
  const server = fromNode(handler, { log: false, onError })
  expect((await legacy(server, 'tools/call', { name: 'x' })).error).toMatchObject({ code: -32603 })
  expect(reports).toEqual([reason])
})

it.each<[string, (response: ServerResponse) => unknown]>([
  ['writes', (response) => response.write('late')],
  ['ends', (response) => response.end('late')],
])(
  'a handler that %s once its response is complete ends no process, as with node:http',
  async (_what, late) => {
    const done = deferred()
    const handler: Handler = ({ body: { id } }, response) => {
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
      response.once('close', () => {
        late(response)
        setImmediate(done.resolve)
      })
    }
    expect((await legacy(fromNode(handler, { log: false }), 'ping')).result).toEqual({})
    // An error in it would be uncaught, and fails this run.
    await done.promise
  },
)
