/** `mayfly check` on servers that are well: ours, and the official ones as their documentation shows them. */
import { expect, test } from 'vitest'
import { createSessions, type FetchServer, nodeListener } from '../../adapters/node.ts'
import { type Report, runProbes } from '../../deploy/check/run.ts'
import { jwt, staticTokens } from '../../src/auth.ts'
import { createMemoryBus } from '../../src/index.ts'
import {
  createMayfly,
  listen,
  mayfly,
  mayflyProcess,
  mayflySessions,
  mayflyWithBus,
  mcpLite,
  protectedServer,
  sdkV1Sessions,
  sdkV1Stateless,
  sdkV2,
  sdkV2BehindOurs,
  serveFetch,
  TOKEN,
} from './_check-servers.ts'

function check(url: URL, bearer?: string): Promise<Report> {
  return runProbes({ url, bearer, headers: {}, timeoutMs: 5000, origin: undefined })
}

/** The ids that are neither well nor left out, each with its verdict. */
function faults({ results }: Report): Record<string, string> {
  const found = results.filter(({ verdict }) => verdict === 'degrades' || verdict === 'wrong')
  return Object.fromEntries(found.map(({ id, verdict }) => [id, verdict]))
}

function detailOf({ results }: Report, id: string): string {
  return results.find((result) => result.id === id)!.detail
}

function skippedIn({ results }: Report, prefix: string): number {
  return results.filter(({ id, verdict }) => id.startsWith(prefix) && verdict === 'skipped').length
}

/** What neither SDK brings: no CORS, no guard, no security headers. On a local host the guard is a MUST of the specification. */
const BARE = {
  'cors.preflight': 'degrades',
  'security.origin': 'wrong',
  'security.rebinding': 'wrong',
  'security.nosniff': 'degrades',
}

test('Mayfly without a bus: nothing is wrong and nothing degrades', async () => {
  await using server = await mayfly()
  const report = await check(server.url)

  expect(faults(report)).toEqual({})
  expect(report.server).toEqual({ name: 'Shop', version: '1.2.3' })
  expect(report.eras).toEqual(['modern', 'legacy'])
  expect(detailOf(report, 'listen.ends')).toBe('ended with a result')
  expect(skippedIn(report, 'lists.')).toBe(0)
})

test.each([
  ['with a bus', mayflyWithBus],
  ['in a process of its own', mayflyProcess],
])('Mayfly %s: the stream stays open and is closed by the check', async (_where, start) => {
  await using server = await start()
  const report = await check(server.url)

  expect(faults(report)).toEqual({})
  expect(detailOf(report, 'listen.acknowledged')).toBe(
    'toolsListChanged, promptsListChanged, resourcesListChanged',
  )
  expect(detailOf(report, 'listen.ends')).toMatch(/^stays open/)
})

test('Mayfly with sessions: nothing is wrong and nothing degrades', async () => {
  await using server = await mayflySessions()
  expect(faults(await check(server.url))).toEqual({})
})

test('Mayfly with sessions and static tokens, without a token and with one', async () => {
  const auth = staticTokens([{ token: TOKEN, clientId: 'desk' }])
  await using server = await serveFetch(createSessions(createMayfly({ auth })))

  expect(faults(await check(server.url))).toEqual({})
  expect(faults(await check(server.url, TOKEN))).toEqual({})
})

test('Mayfly with an issuer at another port of this machine, which is not asked', async () => {
  await using issuer = await listen((request, response) => {
    const { origin } = new URL(request.url ?? '/', `http://${request.headers.host}`)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ issuer: origin, jwks_uri: `${origin}/jwks`, keys: [] }))
  })
  const auth = jwt({ issuer: issuer.url.origin, audience: 'https://shop.example/mcp' })
  await using server = await mayfly({ auth })
  const report = await check(server.url)

  expect(faults(report)).toEqual({})
  expect(detailOf(report, 'authorization.servers')).toContain('was not checked')
})

test.for([
  ['showcase/server.ts', {}],
  ['everything/server.ts', {}],
  ['everything/sessions.ts', {}],
  ['asking/server.ts', {}],
  ['sdk/v2.ts', { 'lists.cursor': 'degrades' }],
  // A server of SDK v1 knows no other era, and calls an unknown tool one that failed.
  ['sdk/v1.ts', { 'eras.modern': 'degrades', 'lists.cursor': 'degrades', 'legacy.unknown-tool': 'degrades' }],
] as const)('the example %s', async ([path, expected]) => {
  const { default: example } = (await import(`../../examples/${path}`)) as { default: FetchServer }
  await using server = await serveFetch(example)

  expect(faults(await check(server.url))).toEqual(expected)
})

test('SDK v2 behind our guard: its cursors are its own, and nothing else is wanting', async () => {
  await using server = await sdkV2BehindOurs()
  const report = await check(server.url)

  expect(faults(report)).toEqual({ 'lists.cursor': 'degrades' })
  expect(report.eras).toEqual(['modern', 'legacy'])
})

test('Mayfly where nothing can be streamed: listen is ended in JSON', async () => {
  const server = createMayfly({ bus: createMemoryBus() })
  await using running = await serveFetch({
    fetch: (request) => server.fetch(request),
    handle: (request, platform) => server.handle(request, { ...platform, canStream: false }),
  })

  // The specification has the acknowledgement come first; in one JSON body there is no room for it.
  expect(faults(await check(running.url))).toEqual({ 'listen.acknowledged': 'degrades' })
})

test('lists are read page by page', async () => {
  const names = Array.from({ length: 7 }, (_, index) => `note://${index}`)
  const resources = Object.fromEntries(
    names.map((uri) => [uri.slice(7), { uri, name: uri, read: () => 'A note' }]),
  )
  await using server = await mayfly({ resources, pageSize: 3 })

  expect(detailOf(await check(server.url), 'lists.resources')).toBe('7 on 3 pages')
})

test('a server behind a token: what can be told without it, and all of it with it', async () => {
  await using server = await protectedServer()
  const locked = await check(server.url)
  const open = await check(server.url, TOKEN)

  expect(faults(locked)).toEqual({})
  expect(detailOf(locked, 'eras.any')).toBe('needs a token: pass --bearer-env')
  expect(detailOf(locked, 'authorization.challenge')).toBe('401 with the metadata URL')
  expect(skippedIn(locked, 'authorization.')).toBe(1)
  expect(skippedIn(locked, 'modern.')).toBe(13)
  expect(faults(open)).toEqual({})
  expect(skippedIn(open, 'authorization.')).toBe(0)
  expect(skippedIn(open, 'modern.')).toBe(0)
})

test('a wrong token is told, and that the token is not the server’s fault everywhere else', async () => {
  await using server = await protectedServer()

  expect(faults(await check(server.url, 'another'))).toEqual({ 'authorization.token': 'wrong' })
})

test('the official SDK v2, both eras', async () => {
  await using server = await sdkV2()
  const report = await check(server.url)

  expect(report.server).toEqual({ name: 'Official', version: '2.0.0' })
  // McpServer has no pages and reads no cursor.
  expect(faults(report)).toEqual({ ...BARE, 'lists.cursor': 'degrades' })
})

test('the official SDK v2, modern alone: legacy is a degradation', async () => {
  await using server = await sdkV2('reject')
  const report = await check(server.url)

  expect(report.eras).toEqual(['modern'])
  expect(faults(report)).toEqual({
    ...BARE,
    'lists.cursor': 'degrades',
    'eras.legacy.2025-11-25': 'degrades',
  })
  expect(skippedIn(report, 'legacy.')).toBe(7)
})

test('the official SDK v1 without sessions: modern is a degradation', async () => {
  await using server = await sdkV1Stateless()
  const report = await check(server.url)

  expect(report.eras).toEqual(['legacy'])
  expect(faults(report)).toEqual({
    ...BARE,
    'eras.modern': 'degrades',
    'lists.cursor': 'degrades',
    // Its 405 has no Allow, an unknown tool is a tool that failed, and -32700 stands for -32600.
    'methods.get': 'degrades',
    'methods.delete': 'degrades',
    'legacy.unknown-tool': 'degrades',
    'errors.message': 'degrades',
    'errors.jsonrpc': 'degrades',
    // Transports of v1 want both types, as clients must send them.
    'accept.json': 'degrades',
    'accept.any': 'degrades',
    'accept.absent': 'degrades',
    'accept.stream': 'degrades',
  })
  expect(skippedIn(report, 'modern.')).toBe(13)
})

test('mcp-lite: an older era, and no guard', async () => {
  await using server = await mcpLite()

  expect(faults(await check(server.url))).toEqual({
    ...BARE,
    'eras.modern': 'degrades',
    'eras.legacy.2025-11-25': 'degrades',
    'lists.cursor': 'degrades',
    'errors.content-type': 'degrades',
    'methods.get': 'degrades',
    'methods.delete': 'degrades',
  })
})

test('the official SDK v1 with sessions: they are needed, and the check leaves none behind', async () => {
  await using server = await sdkV1Sessions(404)
  const report = await check(server.url)

  expect(faults(report)).toMatchObject({ ...BARE, 'legacy.session-needed': 'degrades' })
  expect(Object.values(faults(report)).filter((verdict) => verdict === 'wrong')).toHaveLength(2)
  expect(detailOf(report, 'legacy.session-unknown')).toBe('refused with 404: the client starts a new one')
  expect(detailOf(report, 'methods.get')).toBe('a stream is opened')
  expect(detailOf(report, 'methods.delete')).toBe('HTTP 200: the session is ended')
  expect(server.open()).toBe(0)
})

test('the latency of a warm server is measured on one connection', async () => {
  const requests = new Map<unknown, number>()
  const serve = nodeListener(createMayfly(), { hostname: '127.0.0.1' })
  await using server = await listen((request, response) => {
    requests.set(request.socket, (requests.get(request.socket) ?? 0) + 1)
    return serve(request, response)
  })
  const report = await check(server.url)

  expect(faults(report)).toEqual({})
  expect(Math.max(...requests.values())).toBe(10)
})
