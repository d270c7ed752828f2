/** Errors that tools throw: what is expected (`UserError`), and what is the server's fault (a result unlike its `outputSchema`), on every path. */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type MCPServer, NonRetryableError, UserError } from '../../src/index.ts'
import { createSession } from '../../src/protocol/session.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createMemoryTasks } from '../../src/tasks.ts'
import { connect } from '../../src/testing.ts'
import { createServer, legacy, META, modern, post, VERSION } from './_client.ts'
import { createV2 } from './sdk/_servers.ts'
import { TaskClient } from './tasks/_tasks.ts'

interface Result {
  isError?: boolean
  content?: { text: string }[]
}

const onError = vi.fn()
const printed = vi.fn()
beforeEach(() => {
  onError.mockClear()
  printed.mockClear()
  vi.spyOn(console, 'error').mockImplementation(printed)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** As of another package: only its name counts. */
class OtherUserError extends Error {
  override name = 'UserError'
}

const THROWN = {
  ours: () => new UserError('There is no order 42.'),
  foreign: () => new OtherUserError('There is no order 42.'),
}

const toolsOf = (make: () => unknown, task: 'auto' | undefined = undefined) => ({
  sync: createTool({
    id: 'sync',
    ...(task && { task }),
    execute: () => {
      throw make()
    },
  }),
  async: createTool({
    id: 'async',
    execute: async () => {
      throw make()
    },
  }),
  step: createTool({
    id: 'step',
    execute: (_input, ctx) =>
      ctx.step('look', () => {
        throw make()
      }),
  }),
  wrong: createTool({
    id: 'wrong',
    outputSchema: z.object({ total: z.number() }),
    execute: () => ({ total: 'ten' }) as never,
  }),
  later: createTool({
    id: 'later',
    outputSchema: z.object({ total: z.number().refine(async () => true) }),
    execute: async () => ({ total: 'ten' }) as never,
  }),
  empty: createTool({
    id: 'empty',
    outputSchema: z.object({ total: z.number() }),
    execute: () => ({ content: [] }) as never,
  }),
})

const refuse = (): never => {
  throw new UserError('Closed on Sundays.')
}

type Call = (server: MCPServer, name: string) => Promise<Result | undefined>

async function inSession(server: MCPServer, name: string, meta: object): Promise<Result | undefined> {
  const said: { result?: Result }[] = []
  const session = createSession(server.getSessionParts(), {
    id: () => undefined,
    platform: { env: {} },
    send: async (message) => void said.push(message as object),
  })
  await session.receive(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, ...meta } },
    undefined,
  )
  return said[0]?.result
}

const PATHS: { readonly [path: string]: Call } = {
  modern: async (server, name) => (await modern(server, 'tools/call', { name, arguments: {} })).result,
  legacy: async (server, name) => (await legacy(server, 'tools/call', { name, arguments: {} })).result,
  batch: async (server, name) => {
    const message = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: {} },
    })
    const response = await server.handle(
      post([message(1)], { headers: { 'mcp-protocol-version': '2025-03-26' } }),
      {},
    )
    return ((await response.json()) as { result: Result }[])[0]?.result
  },
  'stdio or a session': (server, name) => inSession(server, name, {}),
  'modern stdio': (server, name) =>
    inSession(server, name, { _meta: { [META.protocolVersion]: VERSION, [META.clientCapabilities]: {} } }),
  'the official client': async (server, name) => {
    await using client = await connect(server)
    return (await client.callTool({ name, arguments: {} })) as Result
  },
}

describe.each(Object.entries(PATHS))('over %s', (_path, call) => {
  it.each(Object.entries(THROWN))(
    'UserError (%s) → its message to the model, one line of level info',
    async (_of, make) => {
      const server = createServer({ tools: toolsOf(make), onError })
      for (const name of ['sync', 'async', 'step']) {
        printed.mockClear()
        expect(await call(server, name)).toMatchObject({
          isError: true,
          content: [{ text: 'There is no order 42.' }],
        })
        const lines = printed.mock.calls.map(([line]) => JSON.parse(line as string) as object)
        expect(lines).toEqual([
          {
            level: 'info',
            time: expect.any(String),
            tool: name,
            requestId: expect.any(String),
            message: 'There is no order 42.',
          },
        ])
      }
      expect(onError).not.toHaveBeenCalled()
    },
  )

  it('any other error is reported with its stack', async () => {
    const server = createServer({ tools: toolsOf(() => new NonRetryableError('boom')), onError })
    expect(await call(server, 'sync')).toMatchObject({ isError: true })
    expect(JSON.parse(printed.mock.calls[0]?.[0] as string)).toMatchObject({
      level: 'error',
      stack: expect.any(String),
    })
    expect(onError).toHaveBeenCalledOnce()
  })

  it.each(['wrong', 'later', 'empty'])(
    'a result unlike its outputSchema (%s) is reported, and is an isError result',
    async (name) => {
      const server = createServer({ tools: toolsOf(THROWN.ours), onError })
      const words = `Tool "${name}" ${name === 'empty' ? 'has an outputSchema but returned no' : 'returned a value that does not match'}`
      const result = await call(server, name)
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(words) }] })
      expect(onError).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ message: result?.content?.[0]?.text }),
        {
          tool: name,
          requestId: expect.any(String),
        },
      )
      expect(printed).toHaveBeenCalledOnce()
    },
  )
})

it('a task that throws a UserError ends with its message, and one line of level info', async () => {
  const client = new TaskClient({ tools: toolsOf(THROWN.ours, 'auto'), tasks: createMemoryTasks(), onError })
  const called = (await client.call('sync')) as unknown as Result & { taskId?: string }
  const ended = called.taskId === undefined ? called : (await client.get(called.taskId)).result
  expect(ended).toMatchObject({ isError: true, content: [{ text: 'There is no order 42.' }] })
  expect(printed.mock.calls.map(([line]) => (JSON.parse(line as string) as { level: string }).level)).toEqual(
    ['info'],
  )
  expect(onError).not.toHaveBeenCalled()
})

it.each([
  ['v1', () => new McpServerV1({ name: 'a', version: '1' })],
  ['v2', () => new McpServerV2({ name: 'a', version: '1' })],
] as const)(
  'fromSdk, %s: a UserError is an isError result with its message, and no line',
  async (_version, create) => {
    const server = fromSdk(
      () => {
        const sdk = create()
        ;(sdk as McpServerV2).registerTool('find', {}, () => {
          throw new UserError('There is no order 42.')
        })
        return sdk as McpServerV2
      },
      { log: false, onError },
    )
    await using client = await connect(server, { era: 'legacy' })
    expect(await client.callTool({ name: 'find', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: 'There is no order 42.' }],
    })
    expect([printed.mock.calls, onError.mock.calls]).toEqual([[], []])
  },
)

it.each([
  ['MCPServer', 'sync', () => createServer({ tools: toolsOf(THROWN.ours), use: [refuse], onError })],
  ['fromSdk', 'fail', () => fromSdk(createV2, { log: false, use: [refuse], onError })],
] as const)('a middleware of %s that throws it is a line of level info', async (_of, name, make) => {
  await using client = await connect(make())
  const result = await client.callTool({ name, arguments: {} })
  expect(result).toMatchObject({ isError: true, content: [{ text: 'Closed on Sundays.' }] })
  expect(printed.mock.calls.map(([line]) => (JSON.parse(line as string) as { level: string }).level)).toEqual(
    ['info'],
  )
  expect(onError).not.toHaveBeenCalled()
})

it('a tool that is called without a server throws it', async () => {
  await expect(toolsOf(THROWN.ours).async.execute()).rejects.toThrow(UserError)
  await expect(toolsOf(THROWN.ours).wrong.execute()).rejects.toThrow('does not match its outputSchema')
})
