/** A gateway passes everything of the servers behind it through, in both eras. */
import { getEventListeners } from 'node:events'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createResource, createTool } from '../../../src/index.ts'
import { startMayfly, startSessionServer } from '../client/_servers.ts'
import { add, connect, createBooking, SECRET, startGateway, stock } from './_servers.ts'

describe('what is listed', () => {
  it('tools with schemas, annotations and _meta, resources, templates and prompts', async () => {
    const url = await startMayfly(stock)
    const front = connect(await startGateway({ servers: { shop: { url } } }))

    const { front_shop_add: tool } = await front.listTools()
    expect(tool).toMatchObject({
      title: 'Add',
      description: 'Adds two numbers',
      mcp: { annotations: { readOnlyHint: true }, _meta: { ui: 'x' } },
      definition: {
        name: 'shop_add',
        inputSchema: { required: ['a', 'b'] },
        outputSchema: { required: ['sum'] },
      },
    })
    expect(await front.resources.list()).toMatchObject({ front: [{ uri: 'stock://all', name: 'All' }] })
    expect(await front.resources.templates()).toMatchObject({ front: [{ uriTemplate: 'stock://{sku}' }] })
    expect(await front.prompts.list()).toMatchObject({
      front: [{ name: 'shop_summary', description: 'Sums up', arguments: [{ name: 'length' }] }],
    })
  })

  it('its own items come first and win; of two servers, the first', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const other = createResource({ uri: 'stock://all', name: 'Other', read: () => 'nothing' })
    const [one, two] = [await startMayfly(stock), await startMayfly({ resources: [other] })]
    const own = createTool({ id: 'own', execute: () => 'mine' })
    const front = connect(
      await startGateway({ servers: { one: { url: one }, two: { url: two } } }, { tools: { one_add: own } }),
    )

    expect(Object.keys(await front.listTools())).toEqual(['front_one_add'])
    expect(await front.callTool('front', 'one_add')).toMatchObject({ content: [{ text: 'mine' }] })
    expect(await front.resources.list()).toMatchObject({ front: [{ uri: 'stock://all', name: 'All' }] })
    expect(await front.resources.read('front', 'stock://all')).toMatchObject({
      contents: [{ text: 'everything' }],
    })
    expect(JSON.stringify(warn.mock.calls)).toContain('The tool \\\\\\"add\\\\\\" of the server')
    warn.mockRestore()
  })

  it('a URI that an own template, or that of an earlier server, has is not served by a later one', async () => {
    const orders = createResource({ uriTemplate: 'orders://{id}', name: 'Own', read: () => 'own' })
    const taken = ['orders://1', 'stock://A-1', 'stock://all', 'free://1'].map((uri) =>
      createResource({ uri, name: uri, read: () => 'later' }),
    )
    const [one, two] = [await startMayfly(stock), await startMayfly({ resources: taken })]
    const servers = { one: { url: one }, two: { url: two } }
    const front = connect(await startGateway({ servers }, { resources: [orders] }))
    const read = async (uri: string) => (await front.resources.read('front', uri)).contents

    expect(await read('orders://1')).toMatchObject([{ text: 'own' }])
    expect(await read('stock://A-1')).toMatchObject([{ text: 'stock of A-1' }])
    expect(await read('stock://all')).toMatchObject([{ text: 'everything' }])
    expect(await read('free://1')).toMatchObject([{ text: 'later' }])
  })

  it('include leaves items out', async () => {
    const url = await startMayfly(stock)
    const include = ({ kind }: { kind: string }): boolean => kind !== 'tool'
    const front = connect(await startGateway({ servers: { shop: { url, include } } }))

    expect(await front.listTools()).toEqual({})
    expect(await front.callTool('front', 'shop_add', { a: 1, b: 2 }).catch(({ code }) => code)).toBe(
      'REQUEST_FAILED',
    )
  })

  it.each<[string, (name: string) => unknown]>([
    ['a promise', async (name) => name === 'add'],
    ['a rejected promise', async () => Promise.reject(new Error('no'))],
    ['undefined', (name) => ({ subtract: true })[name]],
    ['null', (name) => name.match(/^subtract/)],
    ['a number', (name) => ['subtract'].indexOf(name) + 1],
    ['a string', () => 'true'],
  ])('an item for which include returns %s is left out, and the log says so', async (_what, include) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const url = await startMayfly(stock)
    const shop = { url, include: (item: { name: string }) => include(item.name) as boolean }
    const front = connect(await startGateway({ servers: { shop } }))

    expect(await front.listTools()).toEqual({})
    expect((await front.resources.list()).front ?? []).toEqual([])
    expect((await front.prompts.list()).front ?? []).toEqual([])
    const code = (error: { code?: string }) => error.code
    expect(await front.callTool('front', 'shop_add', { a: 1, b: 2 }).catch(code)).toBe('REQUEST_FAILED')
    expect(JSON.stringify(warn.mock.calls)).toContain('neither true nor false')
  })
})

describe.each([
  ['a modern server', () => startMayfly(stock)],
  ['a legacy server with sessions', async () => (await startSessionServer()).url],
])('%s behind', (_, start) => {
  it('answers calls', async () => {
    const front = connect(await startGateway({ servers: { shop: { url: await start() } } }))
    expect(await front.callTool('front', 'shop_add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
    })
  })
})

it('resources are read, prompts filled in, and arguments completed', async () => {
  const url = await startMayfly(stock)
  const front = await startGateway({ servers: { shop: { url } } })
  const client = connect(front)

  expect(await client.resources.read('front', 'stock://all')).toMatchObject({
    contents: [{ uri: 'stock://all', mimeType: 'text/plain', text: 'everything' }],
  })
  expect(await client.resources.read('front', 'stock://A-1')).toMatchObject({
    contents: [{ text: 'stock of A-1' }],
  })
  expect(await client.prompts.get('front', 'shop_summary', { length: 'short' })).toMatchObject({
    messages: [{ content: { text: 'A short summary' } }],
  })
  const complete = (ref: object, name: string, value: string) =>
    post(front, 'completion/complete', { ref, argument: { name, value } })
  expect(await complete({ type: 'ref/prompt', name: 'shop_summary' }, 'length', '')).toMatchObject({
    result: { completion: { values: ['short', 'long'] } },
  })
  expect(await complete({ type: 'ref/resource', uri: 'stock://{sku}' }, 'sku', 'A-2')).toMatchObject({
    result: { completion: { values: ['A-2'] } },
  })
})

describe('questions', () => {
  it('of a modern server reach the user, and no step behind runs twice', async () => {
    const { ran, book } = createBooking()
    const url = await startMayfly({ tools: { book }, secret: SECRET })
    const front = connect(await startGateway({ servers: { hotel: { url } } }, { secret: SECRET }))

    expect(await front.callTool('front', 'hotel_book')).toMatchObject({
      content: [{ text: 'booked for Ann' }],
    })
    expect(ran).toEqual({ reserve: 1, pay: 1 })
  })

  it('of a legacy server reach the user if the call may run again; otherwise it hears that nobody can be asked', async () => {
    const { url } = await startSessionServer()
    const ask = async (rerun?: true) => {
      const servers = { v1: { url, ...(rerun && { rerun }) } }
      return connect(await startGateway({ servers }, { secret: SECRET })).callTool('front', 'v1_ask')
    }

    expect(await ask(true)).toMatchObject({ content: [{ text: 'accept: Ann' }] })
    expect(await ask()).toMatchObject({ isError: true })
  })

  it('of a process are asked of nobody: all callers share it', async () => {
    const file = fileURLToPath(new URL('../client/_stdio-v1.ts', import.meta.url))
    const start = vi.fn(() => new StdioClientTransport({ command: process.execPath, args: [file] }))
    const servers = { v1: { transport: start } }
    const front = connect(await startGateway({ servers }, { secret: SECRET }))

    for (let read = 0; read < 2; read++)
      expect(await front.resources.read('front', 'news://today')).toMatchObject({
        contents: [{ text: 'Nothing happened' }],
      })
    expect(await front.callTool('front', 'v1_ask')).toMatchObject({ isError: true })
    expect(start).toHaveBeenCalledOnce()
  })
})

/** Node 20 prints a warning about more than ten. */
it.each(['url', 'process'] as const)(
  'of 40 calls at once no signal has many listeners (%s)',
  async (kind) => {
    let most = 0
    const add = AbortSignal.prototype.addEventListener
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (
      this: AbortSignal,
      ...given
    ) {
      add.apply(this, given as Parameters<typeof add>)
      most = Math.max(most, getEventListeners(this, 'abort').length)
    })
    onTestFinished(() => added.mockRestore())
    const file = fileURLToPath(new URL('../client/_stdio-v1.ts', import.meta.url))
    const server =
      kind === 'url'
        ? { url: (await startSessionServer()).url }
        : { transport: () => new StdioClientTransport({ command: process.execPath, args: [file] }) }
    const front = connect(await startGateway({ servers: { v1: server } }))
    await front.listTools()

    await Promise.all(Array.from({ length: 40 }, () => front.resources.read('front', 'news://today')))

    expect(most).toBeLessThanOrEqual(10)
  },
)

it('progress and log messages pass through, and the end of a call', async () => {
  let stopped: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const work = createTool({
    id: 'work',
    execute: (_input, ctx) => {
      ctx.reportProgress({ progress: 1, total: 2, message: 'half' })
      ctx.log('warning', { slow: true })
      return new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          stopped?.()
          resolve('stopped')
        })
      })
    },
  })
  const url = await startMayfly({ tools: { work } })
  const log = vi.fn()
  const front = await startGateway({ servers: { far: { url } } })
  const { MCPClient } = await import('../../../src/client.ts')
  const client = new MCPClient({ servers: { front: { url: front, log, logLevel: 'info' } } })
  const heard: unknown[] = []
  const over = new AbortController()

  const call = client.callTool(
    'front',
    'far_work',
    {},
    { signal: over.signal, onProgress: (p) => heard.push(p) },
  )
  call.catch(() => {})
  await expect.poll(() => [heard.length, log.mock.calls.length]).toEqual([1, 1])
  expect(heard).toEqual([{ progress: 1, total: 2, message: 'half' }])
  expect(log.mock.calls[0]).toMatchObject([{ level: 'warning', data: { slow: true }, logger: 'far' }])
  over.abort()
  await ended
  await client.disconnect()
})

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function post(url: string, method: string, params: object, headers: object = {}): Promise<unknown> {
  const name = (params as { name?: string; uri?: string }).name ?? (params as { uri?: string }).uri
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  })
  return response.json()
}

it('a result has nothing of the protocol of the server behind', async () => {
  const url = await startMayfly({ name: 'Internal', tools: { add } })
  const front = await startGateway({ servers: { shop: { url } } })
  const answer = await post(front, 'tools/call', { name: 'shop_add', arguments: { a: 1, b: 2 } })
  expect(answer).toMatchObject({
    result: {
      structuredContent: { sum: 3 },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Front' } },
    },
  })
  expect(JSON.stringify(answer)).not.toContain('Internal')
})
