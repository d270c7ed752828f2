/** What `mayfly check` never does to a server, and how much of one it takes: docs/check-reference.md in numbers. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createSessions, nodeListener, serve } from '../../adapters/node.ts'
import { readResponseBody } from '../../deploy/check/body.ts'
import { defaultDeadlineMs, type Report, runProbes } from '../../deploy/check/run.ts'
import { createMemoryBus, createPrompt, createResource, createTool } from '../../src/index.ts'
import { broken, createMayfly, listen, methodOf } from './_check-servers.ts'

const check = (url: URL, timeoutMs = 5000): Promise<Report> =>
  runProbes({ url, bearer: undefined, headers: {}, timeoutMs, origin: undefined })

test('it runs no tool, reads no resource and fills in no prompt, makes 60 to 100 requests, four at a time', async () => {
  const ran: string[] = []
  const run = (what: string) => () => {
    ran.push(what)
    return what
  }
  const server = createMayfly({
    bus: createMemoryBus(),
    tools: { echo: createTool({ id: 'echo', description: 'Says', execute: run('tool') }) },
    resources: [
      createResource({ uri: 'note://1', read: run('resource') }),
      createResource({ uriTemplate: 'note://{id}', read: run('template') }),
    ],
    prompts: { hello: createPrompt({ description: 'Greets', get: run('prompt') }) },
  })
  const serveNode = nodeListener(server, { hostname: '127.0.0.1' })
  let [open, most, requests] = [0, 0, 0]
  await using running = await listen((request, response) => {
    requests++
    most = Math.max(most, ++open)
    response.once('close', () => open--)
    // So that those that are asked at once are there at once.
    setTimeout(() => serveNode(request, response), 20)
  })

  await check(running.url)

  expect(ran).toEqual([])
  expect(most).toBe(4)
  expect(requests).toBeGreaterThan(60)
  expect(requests).toBeLessThan(100)
})

test('it ends every session that it opens', async () => {
  let opened = 0
  const sessions = createSessions(createMayfly(), { onsessioninitialized: () => void opened++ })
  const { url, close } = await serve(sessions, { port: 0 })
  await check(new URL(url))
  expect([opened > 0, sessions.size]).toEqual([true, 0])
  await close()
})

test('a subscription of which nothing comes is closed after 3 seconds', async () => {
  const lasted: number[] = []
  await using server = await broken(
    async (request, next) => {
      if ((await methodOf(request)) !== 'subscriptions/listen') return next()
      const startedAt = performance.now()
      const silent = new ReadableStream({ cancel: () => void lasted.push(performance.now() - startedAt) })
      return new Response(silent, { headers: { 'content-type': 'text/event-stream' } })
    },
    { bus: createMemoryBus() },
  )
  await check(server.url, 15_000)
  await expect.poll(() => lasted.length).toBeGreaterThan(0)
  expect(Math.min(...lasted)).toBeGreaterThan(2500)
  expect(Math.max(...lasted)).toBeLessThan(7000)
})

test('of a list without end 64 pages are read, in each era', async () => {
  const pages = { modern: 0, legacy: 0 }
  await using server = await broken(async (request, next) => {
    const message = (await request
      .clone()
      .json()
      .catch(() => ({}))) as { id?: string; method?: string; params?: { cursor?: string } }
    if (message.method !== 'tools/list' || message.params?.cursor === 'mayfly-check-never-gave-this-out')
      return next()
    const isModern = request.headers.get('mcp-protocol-version') === '2026-07-28'
    const page = ++pages[isModern ? 'modern' : 'legacy']
    const result = {
      tools: [{ name: `tool_${page}`, description: 'One', inputSchema: { type: 'object' } }],
      nextCursor: `${page}`,
      ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }),
    }
    return Response.json({ jsonrpc: '2.0', id: message.id, result })
  })
  await check(server.url)
  // Other probes ask for the first page.
  for (const read of [pages.modern, pages.legacy]) {
    expect(read).toBeGreaterThanOrEqual(64)
    expect(read).toBeLessThan(64 + 40)
  }
})

const names = Array.from({ length: 7 }, (_, index) => `n${index}`)
const each = <Item>(make: (name: string) => Item): Record<string, Item> =>
  Object.fromEntries(names.map((name) => [name, make(name)]))

test('after 64 MiB of answers the rest is skipped, and that is told', async () => {
  let sent = 0
  const tools = each((id) => createTool({ id, description: id, execute: () => id }))
  const prompts = each((name) => createPrompt({ description: name, get: () => name }))
  const resources = names.map((name) => createResource({ uri: `note://${name}`, read: () => name }))
  await using server = await broken(
    async (_request, next) => {
      const response = await next()
      if (response.headers.get('content-type') !== 'application/json') return response
      const text = `${await response.text()}${' '.repeat(1_000_000)}`
      sent += text.length
      const headers = new Headers(response.headers)
      headers.delete('content-length')
      return new Response(text, { status: response.status, headers })
    },
    { tools, prompts, resources, pageSize: 1 },
  )
  const { results } = await check(server.url)
  expect(results.map(({ detail }) => detail)).toContain('given up: the server sent over 64 MiB')
  expect(results).toContainEqual(expect.objectContaining({ id: 'afterwards.complete', verdict: 'wrong' }))
  expect(sent).toBeLessThan(72 * 1_048_576)
})

const bodyOf = async (chunks: Iterable<Uint8Array>, type: string) => {
  const incoming = new PassThrough()
  const body = readResponseBody(
    incoming as never,
    new Headers({ 'content-type': type }),
    new AbortController().signal,
    () => false,
  )
  for (const chunk of chunks) incoming.write(chunk)
  return { ...(await body), incoming }
}

test('of one answer 1 MiB is read, and no more', async () => {
  const chunk = new Uint8Array(65_536).fill(0x61)
  const { ended, bytes, body, incoming } = await bodyOf(Array(40).fill(chunk), 'text/plain')
  expect(ended).toBe('too long')
  expect(bytes).toBeLessThanOrEqual(1_048_576 + chunk.length)
  expect(body.length).toBeLessThanOrEqual(1_048_576)
  expect(incoming.destroyed).toBe(true)
})

test('of one stream 10 000 events are read, and no more', async () => {
  const events = new TextEncoder().encode('data: 1\n\n'.repeat(20_000))
  const { ended, events: read } = await bodyOf([events], 'text/event-stream')
  expect([ended, read.length]).toEqual(['too long', 10_000])
})

test.for([
  [10_000, 60_000],
  [1000, 10_000],
  [1700, 10_200],
])('with a timeout of %i ms the deadline is %i ms, unless it is given', ([timeoutMs, deadlineMs]) => {
  expect(defaultDeadlineMs(timeoutMs!)).toBe(deadlineMs)
})
