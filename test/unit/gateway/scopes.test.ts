/** The scopes of a gateway's servers hold for every caller, also for one that nobody knows. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { type GatewayServer, gateway } from '../../../src/gateway.ts'
import { createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { answerOf, legacyRequest, modernRequest } from '../../property/_client.ts'
import { stock } from './_servers.ts'

const base = { version: '1.0.0', log: false, onError: () => {} } as const

/** A gateway before a server in this process. */
function createFront(
  scopes: GatewayServer['scopes'],
  config: Partial<MCPServerConfig> = {},
  isDown = false,
): MCPServer {
  const far = new MCPServer({ id: 'far', name: 'Far', ...base, ...stock })
  const send = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    if (isDown) throw new TypeError('fetch failed')
    return far.fetch(new Request(url, init))
  }
  const server = { url: 'https://far.example/mcp', fetch: send, ...(scopes !== undefined && { scopes }) }
  return new MCPServer({
    id: 'front',
    name: 'Front',
    ...base,
    gateway: gateway({ servers: { far: server } }),
    ...config,
  })
}

const ADMIN: [string, GatewayServer['scopes']][] = [
  ['a list', ['admin']],
  ['a function', () => ['admin']],
]

describe.each(ADMIN)('scopes as %s', (_, scopes) => {
  it('throw at creation if the server cannot know its callers', () => {
    expect(() => createFront(scopes)).toThrow(
      /^A server of "gateway" has "scopes", but the server cannot know its callers: set "auth"/,
    )
  })

  it('guard nothing if everyone who can connect is trusted', async () => {
    const front = createFront(scopes, { trustedTransport: true })
    const called = await answerOf(
      await front.fetch(
        modernRequest('tools/call', { params: { name: 'far_add', arguments: { a: 1, b: 2 } } }),
      ),
    )
    expect(called.result).toMatchObject({ structuredContent: { sum: 3 } })
  })

  it.each<[string, Partial<MCPServerConfig>]>([
    ['', {}],
    [' and setup', { setup: () => {} }],
    [' and an open tool', { tools: { open: createTool({ id: 'open', execute: () => 'ran' }) } }],
  ])('guard it from a caller that the app around it does not name%s', async (_what, config) => {
    for (const request of [modernRequest, legacyRequest]) {
      const front = createFront(scopes, { auth: 'host', ...config })
      const ask = async (method: string, params: { readonly [name: string]: unknown } = {}) =>
        answerOf(await front.fetch(request(method, { params })))

      const { result } = await ask('tools/list')
      expect((result!.tools as { name: string }[]).map(({ name }) => name)).toEqual(
        Object.keys(config.tools ?? {}),
      )
      expect((await ask('resources/list')).result).toMatchObject({ resources: [] })
      expect((await ask('prompts/list')).result).toMatchObject({ prompts: [] })
      for (const [method, params] of [
        ['tools/call', { name: 'far_add', arguments: { a: 1, b: 2 } }],
        ['resources/read', { uri: 'stock://all' }],
        ['resources/read', { uri: 'stock://A-1' }],
        ['prompts/get', { name: 'far_summary', arguments: { length: 'short' } }],
        // What does not exist is answered in the same way.
        ['tools/call', { name: 'nope' }],
        ['resources/read', { uri: 'x://nope' }],
      ] as const)
        expect([method, params, (await ask(method, params)).status]).toEqual([method, params, 401])
    }
  })
})

it('no scopes, and an empty list, need no authentication', async () => {
  for (const scopes of [undefined, []]) {
    const { result } = await answerOf(await createFront(scopes).fetch(modernRequest('tools/list')))
    expect(result).toMatchObject({ tools: [{ name: 'far_add' }] })
  }
})

it('the page of a gateway with scopes has no instructions for a caller whom nobody knows', async () => {
  const page = async (scopes: GatewayServer['scopes']): Promise<string> => {
    const front = createFront(scopes, { auth: 'host', instructions: 'Use the admin tools.' })
    const request = new Request('https://front.example/mcp', { headers: { accept: 'text/html' } })
    return (await front.fetch(request)).text()
  }
  expect(await page([])).toContain('Use the admin tools.')
  expect(await page(['admin'])).not.toContain('Use the admin tools.')
})

it.each<[string, () => unknown]>([
  ['a string', () => 'admin'],
  ['a Promise', async () => ['admin']],
  ['a Promise that rejects', () => Promise.reject(new Error('no'))],
  ['null', () => null],
  ['false', () => false],
  ['a Set', () => new Set(['admin'])],
  ['a list of something else', () => [undefined]],
])('a function that returns %s: the items are left out', async (_what, scopes) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  const front = createFront(scopes as GatewayServer['scopes'], {
    auth: bearer((token) => ({ clientId: token, scopes: ['admin'] })),
  })
  const headers = { authorization: 'Bearer a-token-that-is-long-enough' }
  const ask = async (method: string, params = {}) =>
    answerOf(await front.fetch(modernRequest(method, { params, headers })))

  expect((await ask('tools/list')).result).toMatchObject({ tools: [] })
  expect((await ask('resources/templates/list')).result).toMatchObject({ resourceTemplates: [] })
  expect((await ask('tools/call', { name: 'far_add', arguments: { a: 1, b: 2 } })).error).toBeDefined()
  expect((await ask('resources/read', { uri: 'stock://all' })).error).toBeDefined()
  expect((await ask('prompts/get', { name: 'far_summary', arguments: { length: 'x' } })).error).toBeDefined()
  expect(JSON.stringify(warn.mock.calls)).toContain('not a list of strings')
})

describe('a server that has not answered yet, and scopes as a function', () => {
  const headers = (token: string) => ({ authorization: `Bearer ${token}-with-a-long-token` })
  const auth = bearer((token) => ({ clientId: token, scopes: token.startsWith('ann') ? ['admin'] : [] }))
  const items = [
    ['tools/call', { name: 'far_add', arguments: { a: 1, b: 2 } }],
    ['resources/read', { uri: 'stock://all' }],
    ['prompts/get', { name: 'far_summary' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'far_summary' }, argument: { name: 'length', value: '' } },
    ],
  ] as const
  const depends: GatewayServer['scopes'] = ({ tool }) =>
    tool?.description?.includes('danger') ? ['admin'] : []

  it.each<[string, GatewayServer['scopes']]>([
    ['a scope', () => ['admin']],
    ['none for what it knows nothing of', depends],
    ['nothing, since it throws', ({ tool }) => (tool!.annotations ? [] : ['admin'])],
  ])('%s: a caller that nobody knows is refused before it learns of the outage', async (_what, scopes) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    for (const request of [modernRequest, legacyRequest]) {
      for (const [method, params] of items) {
        const front = createFront(scopes, { auth: 'host' }, true)
        const { status, error } = await answerOf(await front.fetch(request(method, { params })))
        expect([method, status, error?.message]).toEqual([method, 401, expect.not.stringContaining('behind')])
      }
    }
  })

  it('a known caller without the scope gets 403, with it the failure', async () => {
    const scopes: GatewayServer['scopes'] = ({ kind }) => (kind === 'template' ? undefined : ['admin'])
    for (const [method, params] of items.slice(0, 3)) {
      const ask = async (token: string) => {
        const front = createFront(scopes, { auth }, true)
        return answerOf(await front.fetch(modernRequest(method, { params, headers: headers(token) })))
      }
      const refused = await ask('bob')
      expect([method, refused.status]).toEqual([method, 403])
      expect(refused.error).toMatchObject({ data: { requiredScopes: ['admin'] } })
      const told = await ask('ann')
      expect(JSON.stringify(told)).toContain('behind this one cannot be reached')
    }
  })

  it('a trusted caller learns of the failure', async () => {
    const front = createFront(depends, { trustedTransport: true }, true)
    const { result } = await answerOf(await front.fetch(modernRequest(...callOf(items[0]))))
    expect(result).toMatchObject({ isError: true, _meta: { 'mayfly/upstream': { server: 'far' } } })
  })
})

const callOf = ([method, params]: readonly [string, object]) => [method, { params: { ...params } }] as const
