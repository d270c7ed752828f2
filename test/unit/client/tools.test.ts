/** Tools as an agent, or a server of one's own, gets them. */
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import type { MCPClientError } from '../../../src/client.ts'
import { type AnyTool, createTool, type MCPServerConfig } from '../../../src/index.ts'
import { createClient, startMayfly, startSessionServer } from './_servers.ts'

const divide = createTool({
  id: 'divide',
  title: 'Divide',
  description: 'Divides',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ quotient: z.number() }),
  mcp: { annotations: { readOnlyHint: true }, _meta: { team: 'maths' } },
  execute: ({ a, b }) => {
    if (b === 0) throw new Error('Cannot divide by 0')
    return { quotient: a / b }
  },
})
const slow = createTool({
  id: 'slow',
  execute: async (_input, ctx) => {
    await ctx.reportProgress({ progress: 1, message: 'waiting' })
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    return 'never'
  },
})
const tools: MCPServerConfig['tools'] = { divide, slow }

it('a tool says what its server says of it', async () => {
  const client = createClient({ servers: { maths: { url: await startMayfly({ tools }) } } })

  const { maths_divide: tool } = await client.listTools()

  expect(tool).toMatchObject({
    id: 'maths_divide',
    server: 'maths',
    title: 'Divide',
    description: 'Divides',
    mcp: { annotations: { readOnlyHint: true }, _meta: { team: 'maths' } },
    definition: { name: 'divide' },
  })
  const options = { target: 'draft-2020-12' as const }
  expect(tool!.inputSchema['~standard'].jsonSchema.input(options)).toMatchObject({ required: ['a', 'b'] })
  expect(tool!.outputSchema?.['~standard'].jsonSchema.output(options)).toMatchObject({
    required: ['quotient'],
  })
})

it('what the tool fails with is thrown; callTool returns it', async () => {
  const client = createClient({ servers: { maths: { url: await startMayfly({ tools }) } } })
  const { divide: tool } = (await client.listToolsets()).maths!

  const error = await tool!.execute({ a: 1, b: 0 }).catch((thrown: MCPClientError) => thrown)

  expect(error).toMatchObject({
    code: 'TOOL_FAILED',
    server: 'maths',
    message: 'Cannot divide by 0',
    result: { isError: true },
  })
  expect(await client.callTool('maths', 'divide', { a: 1, b: 0 })).toMatchObject({ isError: true })
})

it('the server judges the arguments, and its words reach the caller', async () => {
  const client = createClient({ servers: { maths: { url: await startMayfly({ tools }) } } })
  const { maths_divide: tool } = await client.listTools()

  await expect(tool!.execute({ a: 'one', b: 1 })).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: expect.stringContaining('a: '),
  })
  await expect(tool!.execute('a=1')).rejects.toThrow(TypeError)
})

it('a server of one’s own serves them on: values, failures, progress', async () => {
  const behind = createClient({ servers: { maths: { url: await startMayfly({ tools }) } } })
  const passedOn: Record<string, AnyTool> = await behind.listTools()
  const client = createClient({ servers: { gateway: { url: await startMayfly({ tools: passedOn }) } } })

  const { divide: _, ...listed } = (await client.listToolsets()).gateway!

  expect(Object.keys(listed)).toEqual(['maths_divide', 'maths_slow'])
  expect(listed.maths_divide!.definition).toMatchObject({
    description: 'Divides',
    annotations: { readOnlyHint: true },
    outputSchema: { required: ['quotient'] },
  })
  expect(await listed.maths_divide!.execute({ a: 6, b: 3 })).toEqual({ quotient: 2 })
  await expect(listed.maths_divide!.execute({ a: 6, b: 0 })).rejects.toThrow('Cannot divide by 0')
  const heard = await new Promise((resolve) => {
    const controller = new AbortController()
    const context = {
      signal: controller.signal,
      reportProgress: (update: object) => {
        controller.abort()
        resolve(update)
      },
    }
    listed.maths_slow!.execute({}, context).catch(() => {})
  })
  expect(heard).toEqual({ progress: 1, message: 'waiting' })
})

it('the caller’s signal ends a call, under either of its names', async () => {
  const client = createClient({ servers: { maths: { url: await startMayfly({ tools }) } } })
  const { maths_slow: tool } = await client.listTools()
  for (const name of ['signal', 'abortSignal']) {
    const controller = new AbortController()
    const context = { [name]: controller.signal, reportProgress: () => controller.abort() }

    await expect(tool!.execute({}, context)).rejects.toMatchObject({ code: 'ABORTED' })
  }
  expect(client.errors).toEqual({})
})

it('a call that takes too long is given up: by the client’s time, the server’s, the call’s', async () => {
  const url = await startMayfly({ tools })
  const client = createClient({
    timeoutMs: 2000,
    servers: { byClient: { url }, byServer: { url, timeoutMs: 1500 } },
  })
  await client.listTools()

  const timeout = (ms: number) => ({ code: 'TIMEOUT', message: expect.stringContaining(`within ${ms} ms`) })
  await Promise.all([
    expect(client.callTool('byClient', 'slow')).rejects.toMatchObject(timeout(2000)),
    expect(client.callTool('byServer', 'slow')).rejects.toMatchObject(timeout(1500)),
    expect(client.callTool('byServer', 'slow', {}, { timeoutMs: 1000 })).rejects.toMatchObject(timeout(1000)),
  ])
})

it('a time of a call that timers cannot wait for is refused: it would be over at once', async () => {
  const client = createClient({ servers: { s: { url: await startMayfly({ tools }) } } })
  const timeoutMs = 2 ** 31

  await expect(client.callTool('s', 'slow', {}, { timeoutMs })).rejects.toThrow(TypeError)
  await expect(client.listToolsWithErrors({ perServerTimeoutMs: timeoutMs })).rejects.toThrow(TypeError)
})

it('lists are followed to their end', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [`t${index}`, createTool({ id: 't', execute: () => index })]),
  )
  const client = createClient({
    servers: { many: { url: await startMayfly({ tools: many, pageSize: 10 }) } },
  })

  expect(Object.keys(await client.listTools())).toHaveLength(25)
})

it('a list without end is an error', async () => {
  let pages = 0
  const answer = (id: unknown, result: object) => Response.json({ jsonrpc: '2.0', id, result })
  const fetch = async (_url: string | URL, init?: RequestInit) => {
    const { id, method } = JSON.parse(String(init?.body ?? '{}'))
    if (method === 'initialize') {
      return answer(id, {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'endless', version: '1' },
      })
    }
    if (method !== 'tools/list') return new Response(null, { status: id === undefined ? 202 : 405 })
    pages++
    return answer(id, {
      tools: [{ name: `t${pages}`, inputSchema: { type: 'object' } }],
      nextCursor: `${pages}`,
    })
  }
  const client = createClient({
    servers: { endless: { url: 'https://endless.example', fetch } },
    onError: () => {},
  })

  expect(await client.listTools()).toEqual({})

  expect(client.errors.endless).toMatchObject({ code: 'REQUEST_FAILED', operation: 'tools/list' })
  expect(pages).toBe(100)
})

it('progress reaches the listener of the server and the one of the call', async () => {
  const { url } = await startSessionServer()
  const client = createClient({ servers: { v1: { url } } })
  const updates: object[] = []
  const ofCall: object[] = []
  expect(await client.callTool('v1', 'count')).toMatchObject({ content: [{ text: 'unwatched' }] })
  const end = client.progress.onUpdate('v1', (update) => updates.push(update))

  await client.callTool('v1', 'count', {}, { onProgress: (update) => ofCall.push(update) })

  expect(updates).toEqual([
    { tool: 'count', progressToken: expect.any(String), progress: 1, total: 2 },
    { tool: 'count', progressToken: expect.any(String), progress: 2, total: 2 },
  ])
  expect(ofCall).toEqual([
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ])
  end()
  expect(await client.callTool('v1', 'count')).toMatchObject({ content: [{ text: 'unwatched' }] })
})

/** What listeners may fail with, and the text of the report. */
const FAULTS: readonly (readonly [what: string, fail: () => unknown, text: string])[] = [
  [
    'throw',
    () => {
      throw new Error('mine')
    },
    'mine',
  ],
  ['reject', () => Promise.reject(new Error('mine')), 'mine'],
  [
    'reject later',
    async () => {
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error('mine')
    },
    'mine',
  ],
  [
    'return what cannot be awaited',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: it is what `await` looks for.
      get then() {
        throw new Error('mine')
      },
    }),
    'mine',
  ],
  ['reject with what has no text', () => Promise.reject(Object.create(null)), 'An error without a text.'],
]

it.each(FAULTS)('listeners that %s are reported, and fail no call', async (_what, fail, text) => {
  const { url } = await startSessionServer()
  const reported: MCPClientError[] = []
  const client = createClient({
    servers: { v1: { url, log: fail } },
    onError: (error) => reported.push(error),
  })
  client.progress.onUpdate('v1', fail)

  const called = await client.callTool('v1', 'count', {}, { onProgress: fail })

  expect(called).toMatchObject({ content: [{ text: 'watched' }] })
  // Two of progress for each listener, one of the log, which is sent on a stream of its own.
  await expect.poll(() => reported.length).toBe(5)
  for (const { code, server, message } of reported) {
    expect([code, server]).toEqual(['LISTENER_FAILED', 'v1'])
    expect(message).toContain(text)
  }
})

it.each(FAULTS)('handlers of errors that %s change no answer, and are printed', async (_what, onError) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => printed.mockRestore())
  const client = createClient({
    timeoutMs: 5000,
    servers: { gone: { url: 'http://127.0.0.1:1/mcp' } },
    onError,
  })

  expect(await client.listTools()).toEqual({})

  await expect.poll(() => printed.mock.calls.length).toBe(1)
})

it('what servers log is received, in both eras, from the level on that was asked for', async () => {
  const { url } = await startSessionServer()
  const logging = createTool({
    id: 'log',
    execute: async (_input, ctx) => {
      await ctx.log('info', 'of no interest')
      await ctx.log('warning', { disk: 'full' })
      return 'logged'
    },
  })
  const entries: object[] = []
  const log = (entry: object) => entries.push(entry)
  const client = createClient({
    servers: {
      v1: { url, log, logLevel: 'warning' },
      mayfly: { url: await startMayfly({ tools: { logging } }), log, logLevel: 'warning' },
    },
  })

  await client.callTool('v1', 'count')
  await client.callTool('mayfly', 'logging')

  await expect.poll(() => entries).toHaveLength(2)
  expect(entries).toEqual([
    { server: 'v1', level: 'warning', logger: 'counter', data: 'counted', message: 'counted' },
    expect.objectContaining({ server: 'mayfly', level: 'warning', data: { disk: 'full' } }),
  ])
})
