/** Messages without an id to a server of another SDK: nobody checks what it would answer, so only notifications reach it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { type FromNodeOptions, fromNode } from '../../../src/from-node.ts'
import { fromSdk, type HostedServer } from '../../../src/sdk.ts'
import { post } from '../_client.ts'
import { createV1, createV2 } from './_servers.ts'

type Body = { method?: string; id?: unknown }

/** A handler that answers whatever it is sent, as hand-written ones do. */
function answering(
  options: FromNodeOptions = {},
  answer: object = { result: { tools: [{ name: 'refund' }] } },
) {
  const bodies: Body[] = []
  const use = vi.fn((_call: unknown, next: () => Promise<object>) => next())
  const server = fromNode(
    (request: IncomingMessage & { body: Body }, response: ServerResponse) => {
      bodies.push(request.body)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: request.body.id, ...answer }))
    },
    { log: false, use: [use as never], mcpPath: '*', ...options },
  )
  return { server, bodies, use }
}

type Send = (server: HostedServer, message: object, token?: string) => Promise<[number, string]>

const sending =
  (version: string, toBody: (message: object) => object): Send =>
  async (server, message, token) => {
    const headers = {
      'mcp-protocol-version': version,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const response = await server.fetch(post(toBody({ jsonrpc: '2.0', ...message }), { headers }))
    return [response.status, await response.text()]
  }

const legacy = sending('2025-11-25', (message) => message)
const WAYS: [string, Send][] = [
  ['legacy', legacy],
  ['in a batch', sending('2025-03-26', (message) => [message])],
  ['modern', sending('2026-07-28', (message) => message)],
]

const METHODS: [string, object?][] = [
  ['tools/call', { name: 'refund', arguments: {} }],
  ['prompts/get', { name: 'plan' }],
  ['resources/read', { uri: 'note://1' }],
  ['subscriptions/listen', {}],
  ['tools/list'],
  ['ping'],
  ['orders/export'],
]

describe.each(WAYS)('a request without an id, %s', (_way, send) => {
  it.each(METHODS)('%s → 202, and the handler does not get it [tools.middleware]', async (method, params) => {
    const { server, bodies, use } = answering({ methods: ['orders/export'] })
    expect(await send(server, { method, ...(params && { params }) })).toEqual([202, ''])
    expect([bodies, use.mock.calls]).toEqual([[], []])
  })

  it('a stranger gets no list, and the refusal of what it may not use', async () => {
    const auth = bearer(() => ({ clientId: 'ann', scopes: [] }), { anonymous: { tools: ['hours'] } })
    const { server, bodies } = answering({ auth, scopes: { tools: { refund: ['x'] } } })
    expect(await send(server, { method: 'tools/list' })).toEqual([202, ''])
    expect((await send(server, { method: 'tools/call', params: { name: 'refund' } }))[0]).toBe(401)
    expect(bodies).toEqual([])
  })

  it.each<[string, object?]>([
    ['tools/call'],
    ['prompts/get', { name: 5 }],
    ['resources/read', {}],
    ['completion/complete', { ref: {} }],
    ['subscriptions/listen', { notifications: 5 }],
  ])('%s that does not say what it is for → 202 [legacy.notification]', async (method, params) => {
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const { server, bodies } = answering({ auth, scopes: { tools: { refund: ['x'] } } })
    expect(await send(server, { method, ...(params && { params }) }, 'ann')).toEqual([202, ''])
    expect(bodies).toEqual([])
  })

  it.each(['notifications/initialized', 'notifications/orders'])(
    '%s reaches the handler, whose result nobody gets',
    async (method) => {
      const { server, bodies } = answering({ methods: ['notifications/orders'] })
      expect(await send(server, { method })).toEqual([202, ''])
      expect(bodies).toMatchObject([{ method }])
    },
  )
})

describe('a response of a caller', () => {
  const auth = bearer((token) => ({ clientId: token, scopes: [] }), { anonymous: { tools: ['hours'] } })
  const sent = { id: 1, result: { a: 1 }, params: { name: 'refund' } }
  const heard = [{ jsonrpc: '2.0', id: 1, result: { a: 1 } }]

  it.each(WAYS.slice(0, 2))(
    '%s: reaches a Node handler, which may have asked, without members of a request',
    async (_way, send) => {
      for (const [options, token] of [[{}], [{ auth }, 'ann']] as const) {
        const { server, bodies } = answering(options)
        expect(await send(server, sent, token)).toEqual([202, ''])
        expect(bodies).toEqual(heard)
      }
      const { server, bodies } = answering()
      const error = { code: -1, message: 'no' }
      await send(server, { error, method: undefined, name: 'refund' })
      expect(bodies).toEqual([{ jsonrpc: '2.0', error }])
    },
  )

  it.each(WAYS.slice(0, 2))('%s: without a token is acknowledged and dropped', async (_way, send) => {
    const { server, bodies } = answering({ auth })
    expect(await send(server, sent)).toEqual([202, ''])
    expect(bodies).toEqual([])
  })

  it.each([
    ['v1', createV1],
    ['v2', createV2],
  ] as const)('is dropped before SDK %s: a fresh server has asked nothing', async (_sdk, create) => {
    const factory = vi.fn(() => create())
    expect(await legacy(fromSdk(factory, { log: false }), sent)).toEqual([202, ''])
    expect(factory).not.toHaveBeenCalled()
  })
})
