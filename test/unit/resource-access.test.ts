/** Who may read which resource of an MCPServer, however its URI is spelled. */
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createResource,
  type MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { changeSubscribed } from '../../src/protocol/session-subscriptions.ts'
import type { Subscriber } from '../../src/request/platform.ts'
import { type Answer, CLIENT, createServer, legacy, modernRequest, StreamReader } from './_client.ts'

const shown = vi.fn(({ variables }: { variables: Record<string, string> }) => JSON.stringify(variables))

const resources = [
  createResource({ uri: 'shop://window', read: () => 'pretty' }),
  createResource({ uri: 'shop://till', scopes: ['vault'], read: () => 'gold' }),
  createResource({ uriTemplate: 'shop://{name}', read: shown }),
  createResource({ uriTemplate: 'shop://files/admin/{id}', scopes: ['vault'], read: shown }),
  createResource({ uriTemplate: 'shop://files/{+path}', read: shown }),
  createResource({ uri: 'shop://files/secret', scopes: ['vault'], read: () => 'gold' }),
]

/** The token is its scopes; without one, the caller is anonymous. */
function createShop(config: Partial<MCPServerConfig> = {}): MCPServer {
  const anonymous = { resources: ['shop://window', 'shop://{name}', 'shop://files/{+path}'] }
  const auth = bearer((token) => ({ clientId: token, scopes: token.split('.') }), { anonymous })
  return createServer({ auth, resources, bus: createMemoryBus(), ...config })
}

const withToken = (token: string | undefined) =>
  token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }

const read = (token: string | undefined, uri: string, server = createShop()): Promise<Answer> =>
  legacy(server, 'resources/read', { uri }, withToken(token))

/** What of these the server tells its caller changes of. */
async function heardOf(token: string | undefined, uris: string[], server = createShop()): Promise<unknown> {
  const notifications = { toolsListChanged: true, resourceSubscriptions: uris }
  const request = modernRequest('subscriptions/listen', { notifications }, withToken(token))
  const stream = new StreamReader(await server.fetch(request))
  const acknowledged = await stream.next()
  await stream.cancel()
  const filter = acknowledged !== undefined && 'params' in acknowledged && acknowledged.params?.notifications
  return (filter as { resourceSubscriptions?: string[] }).resourceSubscriptions
}

/** Spellings by which a template would read what another resource keeps for itself. */
const SPELLINGS = [
  'shop://%74ill',
  'shop://%54ILL',
  'shop://TILL',
  'shop://%2574ill',
  'shop://till%20',
  'shop://till%0A',
  'shop://%EF%BD%94ill',
  'shop://x%2F..%2Ftill',
  'shop://x%5C..%5Ctill',
  'shop://files/x/../secret',
  'shop://files//secret',
  'shop://files/./secret',
  'shop://files/%73ecret',
  'shop://files/secret/',
  'shop://files//shop/../files/secret',
  'shop://files//files/secret',
  'shop://files/x/%2Ffiles%2Fsecret',
  'shop://files/x/%5C%5Cfiles%5Csecret',
  'shop://files/secret.',
  'shop://files/secret%2E%2E',
  'shop://files/secret::$DATA',
  'shop://files/secret%3A%3A%24data',
  'shop://files/secret:$DATA',
  'shop://files/x//files/admin/1',
  'shop://files/x/../admin/1',
  'shop://files/%61dmin/1',
  'shop://files/admin./1',
  'shop://files/admin::$INDEX_ALLOCATION/1',
  'shop://files/a//b//c//d//e',
  `shop://files/a${'%CC%81'.repeat(31)}`,
]

describe.each([
  ['a token without the scope', 'none', 403],
  ['no token', undefined, 401],
] as const)('%s', (_who, token, status) => {
  it('reads what it may, by URI and by template [auth.scopes]', async () => {
    expect((await read(token, 'shop://window')).result?.contents).toMatchObject([{ text: 'pretty' }])
    expect((await read(token, 'shop://door')).result?.contents).toMatchObject([{ text: '{"name":"door"}' }])
  })

  it.each(['shop://till', 'shop://files/secret', 'shop://files/admin/1', ...SPELLINGS])(
    `%j, which names what is guarded → ${status}, and no template is asked [auth.spelling]`,
    async (uri) => {
      shown.mockClear()
      const answer = await read(token, uri)
      expect([answer.status, answer.result]).toEqual([status, undefined])
      expect(shown).not.toHaveBeenCalled()
    },
  )

  it('hears of no change that it may not read, nor of what nobody can [auth.spelling]', async () => {
    const uris = ['shop://window', 'shop://door', 'shop://till', ...SPELLINGS, 'unknown://x', 'SHOP://till']
    expect(await heardOf(token, uris)).toEqual(['shop://window', 'shop://door'])
  })
})

/** What a session of this caller is subscribed to, once it has asked for these. */
async function subscribedTo(
  token: string | undefined,
  uris: string[],
  server = createShop(),
): Promise<string[]> {
  const subscribed = new Set<string>()
  const declared = { protocolVersion: '2025-11-25', clientInfo: CLIENT, clientCapabilities: {} }
  const session = {
    id: 'one',
    declared,
    logLevel: undefined,
    subscriptions: {
      change: (method: string, uri: string, caller: Subscriber) =>
        changeSubscribed(subscribed, server.getSessionParts().definition.resources, { method, uri, caller }),
    },
    rendezvous: createMemoryRendezvous(),
  }
  for (const uri of uris) {
    const { result } = await legacy(
      server,
      'resources/subscribe',
      { uri },
      { ...withToken(token), platform: { session } },
    )
    // That it is not there is not told: it would tell what is guarded.
    expect(result).toEqual({})
  }
  return [...subscribed]
}

it.each([
  ['a token without the scope', 'none'],
  ['no token', undefined],
] as const)(
  '%s: its session hears of no change that it may not read either [auth.spelling]',
  async (_who, token) => {
    const uris = ['shop://window', 'shop://door', 'shop://till', ...SPELLINGS, 'unknown://x', 'SHOP://till']
    expect(await subscribedTo(token, uris)).toEqual(['shop://window', 'shop://door'])
    expect(await subscribedTo('vault', ['shop://till'])).toEqual(['shop://till'])
  },
)

it('with the scope every spelling is served as its template reads it [auth.spelling]', async () => {
  expect((await read('vault', 'shop://till')).result?.contents).toMatchObject([{ text: 'gold' }])
  expect((await read('vault', 'shop://%74ill')).result?.contents).toMatchObject([{ text: '{"name":"till"}' }])
  expect((await read('vault', 'unknown://x')).error).toMatchObject({ code: -32002 })
})

it('on a trusted transport there is nothing to guard, and every URI may be listened to [auth.spelling]', async () => {
  const server = createServer({ resources, bus: createMemoryBus(), trustedTransport: true })
  expect((await read(undefined, 'shop://%74ill', server)).result?.contents).toHaveLength(1)
  expect(await heardOf(undefined, ['unknown://x'], server)).toEqual(['unknown://x'])
})

it('what callbacks answer needs no scope, but what is declared beside it does [auth.spelling]', async () => {
  const callbacks = { listResources: () => [], getResourceContent: ({ uri }: { uri: string }) => uri }
  const server = createShop({ resources: callbacks })
  server.registerResource(createResource({ uri: 'notes://1', scopes: ['vault'], read: () => 'gold' }))
  expect((await read('none', 'notes://2', server)).result?.contents).toMatchObject([{ text: 'notes://2' }])
  expect((await read('none', 'notes://%31', server)).status).toBe(403)
  expect((await read('none', 'NOTES://1', server)).status).toBe(403)
  expect((await read('vault', 'NOTES://1', server)).result?.contents).toMatchObject([{ text: 'NOTES://1' }])
  expect(await heardOf('none', ['notes://2', 'notes://%31'], server)).toEqual(['notes://2'])
})
