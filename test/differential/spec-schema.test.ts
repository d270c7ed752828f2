/** Everything Mayfly sends in the corpus is valid by the official SDKs' schemas. */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { CorpusEntry } from './corpus/_entry.ts'
import { corpus } from './corpus/all.ts'
import { createMayflyPeer } from './mayfly-server.ts'
import { type JsonObject, observe } from './observe.ts'
import { type Exchanged, specFaults } from './spec-schema.ts'

const faults: string[] = []
/** `<era> <method of the request or notification, or error>` */
const seen = new Set<string>()

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const mayfly = createMayflyPeer(() => undefined)
  for (const entry of corpus) {
    for (const message of (await observe(mayfly, entry)).messages) {
      const exchanged = exchangedFor(message, entry)
      seen.add(`${exchanged.era} ${'error' in message ? 'error' : (message.method ?? exchanged.method)}`)
      faults.push(...specFaults(message, exchanged).map((fault) => `${entry.id}: ${fault}`))
    }
  }
  vi.restoreAllMocks()
})

test('everything sent is valid', () => {
  expect(faults).toEqual([])
})

test('every kind of message of both eras was sent', () => {
  const both = [
    'error',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'notifications/progress',
    'notifications/message',
  ]
  const modern = [
    'server/discover',
    'subscriptions/listen',
    'notifications/subscriptions/acknowledged',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
  ]
  const legacy = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
  expect([...seen].sort()).toEqual(
    [
      ...both.flatMap((kind) => [`modern ${kind}`, `legacy ${kind}`]),
      ...modern.map((kind) => `modern ${kind}`),
      ...legacy.map((kind) => `legacy ${kind}`),
    ].sort(),
  )
})

describe('the validation notices', () => {
  const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
  const wire = {
    resultType: 'complete',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'x', version: '1' } },
  }
  const list = { ...wire, tools, ttlMs: 0, cacheScope: 'public' }
  const respond = (result: object) => ({ jsonrpc: '2.0', id: 1, result })
  const modern: Exchanged = { era: 'modern', method: 'tools/list' }
  const legacy: Exchanged = { era: 'legacy', method: 'tools/list' }

  test('nothing in a good answer', () => {
    expect(specFaults(respond(list), modern)).toEqual([])
    expect(specFaults(respond({ tools }), legacy)).toEqual([])
  })

  test.each([
    ['a tool without inputSchema', respond({ ...list, tools: [{ name: 'echo' }] }), modern],
    ['a misspelt member of a tool', respond({ ...list, tools: [{ ...tools[0], titel: 'Echo' }] }), modern],
    ['a missing resultType', respond({ ...list, resultType: undefined }), modern],
    ['a missing ttlMs', respond({ ...list, ttlMs: undefined }), modern],
    ['an unknown cacheScope', respond({ ...list, cacheScope: 'shared' }), modern],
    [
      'a malformed serverInfo',
      respond({ ...list, _meta: { 'io.modelcontextprotocol/serverInfo': 1 } }),
      modern,
    ],
    ['an id of null', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } }, modern],
    ['an error without a message', { jsonrpc: '2.0', id: 1, error: { code: 1 } }, legacy],
    ['a tool without a name', respond({ tools: [{ inputSchema: { type: 'object' } }] }), legacy],
    [
      'a modern notification in the legacy era',
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      legacy,
    ],
    [
      'progress without a token',
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
      modern,
    ],
    ['a result of a method the era has not', respond({}), { era: 'modern', method: 'ping' } as Exchanged],
  ])('%s', (_what, message, exchanged) => {
    expect(specFaults(message, exchanged)).not.toEqual([])
  })
})

/** The request that a message answers, found by its id. */
function exchangedFor(message: JsonObject, { body }: CorpusEntry): Exchanged {
  const requests = [parse(body)].flat().filter((one) => one instanceof Object) as JsonObject[]
  const request = requests.find(({ id }) => id === message.id) ?? requests[0]
  const meta = (request?.params as { _meta?: JsonObject } | undefined)?._meta
  return {
    era: meta?.['io.modelcontextprotocol/protocolVersion'] === undefined ? 'legacy' : 'modern',
    method: String(request?.method),
  }
}

/** Undefined for what is no JSON: it is answered with an error, which belongs to no request. */
function parse(body: CorpusEntry['body']): unknown {
  try {
    return JSON.parse(String(body).replace('\ufeff', ''))
  } catch {
    return undefined
  }
}
