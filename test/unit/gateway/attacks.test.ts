/** A hostile server behind a gateway delays no other, fills no memory, and reaches nobody else. */
import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { nodeListener } from '../../../adapters/node.ts'
import { createBudget } from '../../../src/gateway/byte-budget.ts'
import { ListCache } from '../../../src/gateway/list-cache.ts'
import { gateway } from '../../../src/gateway.ts'
import { MCPServer } from '../../../src/index.ts'
import { answerOf, modernRequest } from '../../property/_client.ts'
import { listen, startAnswering } from '../client/_servers.ts'
import { add } from './_servers.ts'

const P = 'io.modelcontextprotocol/'
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true } },
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { [`${P}serverInfo`]: { name: 'e', version: '1' } },
}

/** A server that answers `tools/list` with `answer`, and how many of its connections are open. */
async function startHostile(answer: (res: ServerResponse, id: unknown) => void) {
  const open = new Set<unknown>()
  const origin = await listen(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method } = JSON.parse(body || '{}')
    open.add(res)
    res.on('close', () => open.delete(res))
    if (method === 'tools/list') return answer(res, id)
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ jsonrpc: '2.0', id, result: DISCOVERED }))
  })
  return { open, url: `${origin}/mcp` }
}

const json = (res: ServerResponse, text: string): void => {
  res.setHeader('content-type', 'application/json')
  res.end(text)
}
const listed = (id: unknown, tools: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":${tools}}}`
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

const drip = (res: ServerResponse, text: string): void => {
  const timer = setInterval(() => res.write(text), 20)
  res.on('close', () => clearInterval(timer))
}

describe.each<[string, (res: ServerResponse, id: unknown) => void]>([
  [
    'a list that is nested 100 000 levels',
    (res, id) =>
      json(res, listed(id, `[{"name":"x","inputSchema":{"type":"object","x":${nested(100_000)}}}]`)),
  ],
  ['a list of 20 MB', (res, id) => json(res, listed(id, `[{"name":"${'x'.repeat(20_000_000)}"}]`))],
  [
    'a million tools',
    (res, id) =>
      json(
        res,
        listed(id, `[${'{"name":"x"},'.repeat(300_000)}{"name":"x","inputSchema":{"type":"object"}}]`),
      ),
  ],
  [
    'an endless stream of events',
    (res) => {
      res.setHeader('content-type', 'text/event-stream')
      drip(res, ': more\n\n')
    },
  ],
  [
    'a body that drips',
    (res) => {
      res.setHeader('content-type', 'application/json')
      drip(res, ' ')
    },
  ],
])('%s', (_what, answer) => {
  it('harms no other server, and its connection ends', async () => {
    const evil = await startHostile(answer)
    const good = new MCPServer({ name: 'Good', version: '1', log: false, tools: { add } })
    const front = new MCPServer({
      id: 'front',
      name: 'Front',
      version: '1',
      log: false,
      onError: () => {},
      gateway: gateway({
        servers: {
          evil: { url: evil.url },
          good: { url: `${await listen(nodeListener(good))}/mcp` },
        },
        listTimeoutMs: 1500,
      }),
    })
    const ask = async (method: string, params: object = {}) =>
      answerOf(await front.fetch(modernRequest(method, { params: { ...params } })))
    const { result } = await ask('tools/list')
    const names = (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('good_'))).toEqual(['good_add'])
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
    expect((await ask('tools/call', { name: 'good_add', arguments: { a: 1, b: 2 } })).result).toMatchObject({
      structuredContent: { sum: 3 },
    })
    await expect.poll(() => evil.open.size).toBe(0)
  })
})

it('a legacy server’s answer with six encodings is refused, on which the process of Node could end', async () => {
  const capabilities = { tools: {} }
  const serverInfo = { name: 'e', version: '1' }
  // Its call may run again, so that it is watched for questions.
  const asking = { name: 'ask', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
  const answers: { readonly [method: string]: object } = {
    initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo },
    'tools/list': { tools: [asking] },
  }
  const origin = await startAnswering(({ method, response }) => {
    if (method === 'tools/call') {
      response.setHeader('content-encoding', Array(6).fill('gzip').join())
      json(response, 'no gzip')
    }
    const result = answers[method]
    return result && { result }
  })
  const errors: unknown[] = []
  const front = new MCPServer({
    id: 'front',
    name: 'Front',
    version: '1',
    log: false,
    onError: (error) => errors.push(error),
    gateway: gateway({ servers: { evil: { url: `${origin}/mcp` } } }),
  })
  onTestFinished(() => front.close())

  await answerOf(
    await front.fetch(modernRequest('tools/call', { params: { name: 'evil_ask', arguments: {} } })),
  )

  expect(inspect(errors, { depth: 10 })).toContain('too many content encodings')
})

describe('a list that changes', () => {
  const value = (version: number) => ({ version, bytes: 1, owner: undefined })
  const create = () =>
    new ListCache<ReturnType<typeof value>>({
      ttlMs: 1_000_000,
      retryMs: 1,
      timeoutMs: 10_000,
      maxEntries: 10,
      budget: createBudget(1000),
      onTooLarge: () => {},
    })
  const reading = (load: () => Promise<ReturnType<typeof value>>) => ({
    load,
    waitUntil: () => {},
    onFailed: () => {},
    waitMs: 10_000,
  })

  it('all who were told get the new one, also those who come while it is read', async () => {
    const cache = create()
    let version = 1
    const load = vi.fn(async () => value(version))
    await cache.read('k', reading(load))
    version = 2
    cache.expire('k')
    const found = await Promise.all([1, 2, 3].map(() => cache.read('k', reading(load))))
    expect(found.map((one) => one?.version)).toEqual([2, 2, 2])
    expect(load).toHaveBeenCalledTimes(2)
  })

  it('a change while it is read: it is read once more, and not each time', async () => {
    const cache = create()
    let version = 0
    const load = vi.fn(async () => {
      const read = value(++version)
      await Promise.resolve()
      if (version < 100) cache.expire('k')
      return read
    })
    expect((await cache.read('k', reading(load)))?.version).toBe(2)
    expect(load).toHaveBeenCalledTimes(2)
  })

  it('a server that says so and does not answer delays its readers by two seconds', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const cache = create()
    await cache.read(
      'k',
      reading(async () => value(1)),
    )
    cache.expire('k')
    const never = reading(() => new Promise(() => {}))
    const slow = cache.read('k', never)
    await vi.advanceTimersByTimeAsync(2000)
    expect((await slow)?.version).toBe(1)
  })
})
