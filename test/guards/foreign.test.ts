/** What reaches a server that is not ours besides its calls: notifications and responses, completions, the page; and how it can break. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { FetchServer } from '../../adapters/node.ts'
import { fromNode } from '../../src/from-node.ts'
import { fromSdk } from '../../src/sdk.ts'
import { eventually } from '../_eventually.ts'
import * as clients from './_clients.ts'
import { IMPLEMENTED, toCall } from './_entries.ts'
import { createSdkV1, createSdkV2 } from './_foreign.ts'
import { FRONTS } from './_fronts.ts'
import { Exchange } from './_http.ts'
import { type Guarded, hosting } from './_ours.ts'
import { Probe } from './_probe.ts'
import { watchTests } from './_watched.ts'

const { onEnd } = watchTests()

const NOTIFICATION = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }
const RESPONSE = { jsonrpc: '2.0', id: 'asked', result: {} }
const HTML = { accept: 'text/html' }

/** Posts to a server, or gets from it. */
async function serve(server: FetchServer) {
  const front = await FRONTS.serve(server, {})
  onEnd(front.close)
  return (message?: unknown, headers: Record<string, string> = {}): Exchange =>
    new Exchange({
      port: front.port,
      path: '/mcp',
      method: message === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': clients.LEGACY,
        ...headers,
      },
      ...(message !== undefined && { body: JSON.stringify(message) }),
    })
}

/** A Node handler that waits for whatever it is sent, until it is left. */
const waiting = (probe: Probe, guarded: Guarded) =>
  fromNode(
    (_request: IncomingMessage, response: ServerResponse) => {
      const left = new AbortController()
      response.on('close', () => left.abort())
      probe.wait(left.signal).then(
        () => response.writeHead(202).end(),
        () => {},
      )
    },
    { ...hosting(probe, guarded), mcpPath: '*' },
  )

describe.each([
  ['a notification', NOTIFICATION],
  ['a response', RESPONSE],
])('%s', (_what, message) => {
  const begin = async (guarded: Guarded) => {
    const probe = new Probe()
    const send = await serve(waiting(probe, guarded))
    return { probe, send }
  }

  it('is ended in time, with a typed error', async () => {
    const { probe, send } = await begin({ http: { maxCallMs: 1000, maxConcurrentCalls: 1 } })
    const exchange = send(message)
    await exchange.done
    expect(exchange.status).toBe(504)
    expect(exchange.messages).toMatchObject([{ error: { code: -32603, data: { limit: 'deadline' } } }])
    expect(probe.count('aborted')).toBe(1)
    expect(probe.log).toHaveLength(1)
    expect(probe.audit).toMatchObject([{ outcome: 'failed', status: 504 }])
  })

  it('takes a place, and gives it back when its client leaves or it is taken', async () => {
    const { probe, send } = await begin({ http: { maxConcurrentCalls: 1 } })
    const left = send(message)
    await eventually(() => expect(probe.count('wait')).toBe(1))
    const refused = send(message)
    await refused.done
    expect(refused.status).toBe(503)
    left.destroy()
    await eventually(() => expect(probe.count('aborted')).toBe(1))
    const taken = send(message)
    await eventually(() => expect(probe.count('wait')).toBe(2))
    probe.release()
    await taken.done
    expect([taken.status, taken.text]).toEqual([202, ''])
    expect(probe.audit.map(({ status, outcome }) => [outcome, status])).toEqual([
      ['refused', 503],
      ['failed', 499],
      ['done', 202],
    ])
    expect(probe.reports).toEqual([])
  })

  it('is counted once, and refused over the rate', async () => {
    const { probe, send } = await begin({ rate: true })
    probe.allowed = 0
    const exchange = send(message)
    await exchange.done
    expect(exchange.status).toBe(429)
    expect(probe.counted).toHaveLength(1)
    expect(probe.count('wait')).toBe(0)
  })
})

describe.each([
  ['legacy', clients.legacy],
  ['a batch', clients.batch],
  ['modern', clients.modern],
])('a request without an id to a handler that answers anything, %s', (_era, connect) => {
  it('runs nothing, and shows nothing of what is closed', async () => {
    const probe = new Probe()
    const server = fromNode(
      (request: IncomingMessage & { body?: { id?: unknown } }, response: ServerResponse) => {
        probe.happened.push('rule')
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({ jsonrpc: '2.0', id: request.body?.id, result: { tools: [{ name: 'rule' }] } }),
        )
      },
      { ...hosting(probe, { auth: 'anonymous', use: true }), mcpPath: '*' },
    )
    const front = await FRONTS.serve(server, {})
    onEnd(front.close)
    const client = await connect({ ...front, token: undefined })
    const body = (text: string) => text.replaceAll(/"id":\d+,/g, '')
    for (const call of [toCall(IMPLEMENTED.fromNode, 'say'), { method: 'tools/list' }])
      expect(await client.send([call], { body })).toMatchObject([{ status: 202, message: undefined }])
    expect(probe.happened).toEqual([])
    expect((await client.send([{ method: 'tools/list' }]))[0]!.message?.result).toEqual({ tools: [] })
  })
})

const SDKS = [
  ['v1', createSdkV1, clients.legacy],
  ['v2', createSdkV2, clients.modern],
] as const

describe.each(SDKS)('scopes before SDK %s', (_sdk, create, connect) => {
  const call = async (method: string, params: object, token = 'use') => {
    const probe = new Probe()
    const front = await FRONTS.serve(create(probe, { auth: true }), {})
    onEnd(front.close)
    const client = await connect({ ...front, token })
    const [reply] = await client.send([{ method, params: { ...params } }])
    return reply!
  }

  it.each([
    'note://secret',
    'NOTE://secret',
    ' note://secret',
    'note://sec\nret',
    'vault://one',
    'VAULT://two',
  ])('resources/read %j → 403', async (uri) => {
    const headers = { 'mcp-name': `=?base64?${btoa(uri)}?=` }
    const probe = new Probe()
    const front = await FRONTS.serve(create(probe, { auth: true }), {})
    onEnd(front.close)
    const read = { method: 'resources/read', params: { uri } }
    const [refused] = await (await connect({ ...front, token: 'use' })).send([read], { headers })
    expect(refused!.message?.error?.message, JSON.stringify(refused)).toContain('Forbidden')
    expect(refused!.status).toBe(403)
    const [allowed] = await (await connect({ ...front, token: 'admin' })).send([read], { headers })
    expect(allowed!.message?.error?.message ?? '').not.toContain('Forbidden')
  })

  it.each([
    [{ type: 'ref/prompt', name: 'plan' }],
    [{ type: 'ref/resource', uri: 'vault://{name}' }],
    [{ type: 'ref/resource', uri: 'note://secret' }],
  ])('completion/complete %j → 403', async (ref) => {
    const params = { ref, argument: { name: 'name', value: '' } }
    const refused = await call('completion/complete', params)
    expect(refused.message?.error?.message).toContain('Forbidden')
    expect(refused.status).toBe(403)
  })

  it('what has no scopes of its own is read', async () => {
    const { message } = await call('resources/read', { uri: 'note://open' })
    expect(message?.result).toBeDefined()
  })

  it('templates and what they list are left out', async () => {
    const templates = await call('resources/templates/list', {})
    expect(JSON.stringify(templates.message?.result)).not.toContain('vault')
    const listed = await call('resources/list', {})
    expect(JSON.stringify(listed.message?.result)).toContain('note://open')
    expect(JSON.stringify(listed.message?.result)).not.toMatch(/vault|secret/)
  })
})

describe('the page of a server', () => {
  it('that never answers is ended in time, and gives its place back', async () => {
    const probe = new Probe()
    const http = { maxCallMs: 1000, maxConcurrentCalls: 1 }
    const send = await serve(waiting(probe, { http }))
    const page = send(undefined, HTML)
    await page.done
    expect(page.status).toBe(504)
    expect(probe.log).toMatchObject([{ httpMethod: 'GET', status: 504 }])
    await eventually(() => expect(probe.count('aborted')).toBe(1))
    const again = send(NOTIFICATION)
    await again.done
    expect(again.status).toBe(504)
  })

  it('gives its place back when who looked has gone', async () => {
    const probe = new Probe()
    const send = await serve(waiting(probe, { http: { maxConcurrentCalls: 1 } }))
    const page = send(undefined, HTML)
    await eventually(() => expect(probe.count('wait')).toBe(1))
    page.destroy()
    await eventually(() => expect(probe.count('aborted')).toBe(1))
    const taken = send(NOTIFICATION)
    await eventually(() => expect(probe.count('wait')).toBe(2))
    probe.release()
    await taken.done
    expect(taken.status).toBe(202)
    expect(probe.reports).toEqual([])
  })

  it('reports the work that it leaves behind, and what it throws', async () => {
    const probe = new Probe()
    const server = fromSdk(
      ({ waitUntil }) => {
        waitUntil(Promise.reject(new Error('later failed')))
        throw new Error('no server')
      },
      hosting(probe, {}),
    )
    // As on platforms that have no waitUntil.
    const response = await server.fetch(new Request('https://mcp.example/mcp', { headers: HTML }))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('no server')
    await eventually(() => expect(probe.reports.toSorted()).toEqual(['later failed', 'no server']))
    expect(probe.log).toMatchObject([{ httpMethod: 'GET', status: 500 }])
  })
})

describe('a Node handler', () => {
  it.each([
    ['JSON', { 'content-type': 'application/json' }, '{"jsonrpc":'],
    ['a stream', { 'content-type': 'text/event-stream' }, ': begun\n\n'],
  ])('that fails halfway through %s → -32603 at once, reported', async (_what, headers, text) => {
    const probe = new Probe()
    const server = fromNode(
      async (_request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, headers)
        response.write(text)
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('broke')
      },
      { ...hosting(probe, {}), mcpPath: '*' },
    )
    const send = await serve(server)
    const exchange = send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    await exchange.done
    expect(exchange.messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
    expect(probe.reports).toEqual(['broke'])
  })

  it('that fails once it has answered is reported', async () => {
    const probe = new Probe()
    const server = fromNode(
      async (_request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('broke later')
      },
      { ...hosting(probe, {}), mcpPath: '*' },
    )
    const send = await serve(server)
    const exchange = send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    await exchange.done
    expect(exchange.messages).toMatchObject([{ id: 1, result: {} }])
    await eventually(() => expect(probe.reports).toEqual(['broke later']))
  })
})

describe('an answer', () => {
  it.each(SDKS)(
    'SDK %s: a client that takes it in one piece can leave, and its call ends',
    async (_sdk, create) => {
      const probe = new Probe()
      const send = await serve(create(probe, { http: { maxConcurrentCalls: 1 } }))
      const { method, params } = toCall(IMPLEMENTED.sdkV1, 'wait')
      const left = send({ jsonrpc: '2.0', id: 1, method, params }, { accept: 'application/json' })
      await eventually(() => expect(probe.count('wait')).toBe(1))
      left.destroy()
      await eventually(() => expect(probe.count('aborted')).toBe(1))
    },
  )

  it.each(
    SDKS.flatMap(([sdk, create]) =>
      ['application/json', 'application/json, text/event-stream'].map(
        (accept) => [sdk, accept, create] as const,
      ),
    ),
  )('SDK %s, Accept %s: a result that is no JSON → -32603 at once', async (_sdk, accept, create) => {
    const probe = new Probe()
    const send = await serve(create(probe, { http: { maxCallMs: 3000 } }))
    const { method, params } = toCall(IMPLEMENTED.sdkV1, 'odd')
    const exchange = send({ jsonrpc: '2.0', id: 1, method, params }, { accept })
    await exchange.done
    expect(exchange.messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
    expect(exchange.messages[0]!.error!.data).toBeUndefined()
    expect(probe.reports).toHaveLength(1)
  })
})
