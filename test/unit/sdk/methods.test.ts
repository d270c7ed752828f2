/** Which methods a foreign server is sent: those of SDK v1's tasks show every caller the tasks of all. */
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import { type FromSdkOptions, fromSdk } from '../../../src/sdk.ts'
import { legacyRequest, post, readAnswer } from '../_client.ts'
import { createV1, createV2 } from './_servers.ts'

const ANN = 'a-token-of-ann-0123456789'
const BOB = 'a-token-of-bob-0123456789'
const auth = staticTokens([
  { token: ANN, clientId: 'ann' },
  { token: BOB, clientId: 'bob' },
])

/** A server of SDK v1 with its own task store, shared by all requests, in which ann has a task. */
async function withTask(options: FromSdkOptions) {
  const taskStore = new InMemoryTaskStore()
  const request = { method: 'tools/call', params: { name: 'diagnose' } } as const
  const { taskId } = await taskStore.createTask({ ttl: 60_000 }, 1, request)
  const result = { content: [{ type: 'text' as const, text: "ann's diagnosis" }] }
  await taskStore.storeTaskResult(taskId, 'completed', result)
  const capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
  const factory = () => {
    const taskMessageQueue = new InMemoryTaskMessageQueue()
    const server = new McpServer({ name: 'v1', version: '1' }, { capabilities, taskStore, taskMessageQueue })
    server.registerTool('look', { inputSchema: { text: z.string().optional() } }, () => ({ content: [] }))
    return server
  }
  const server = fromSdk(factory, { auth, log: false, ...options })
  const ask = async (token: string, method: string, params = {}) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await server.fetch(legacyRequest(method, params, { headers }))
    const { message } = await readAnswer(response)
    return { result: message?.result, error: message?.error }
  }
  return { ask, taskId }
}

describe('the tasks of SDK v1', () => {
  it.each(['tasks/list', 'tasks/result', 'tasks/get', 'tasks/cancel'])(
    '%s of another caller → -32601 that says what to name [guarded.methods]',
    async (method) => {
      const { ask, taskId } = await withTask({})
      const { result, error } = await ask(BOB, method, method === 'tasks/list' ? {} : { taskId })
      expect(result).toBeUndefined()
      expect(error).toMatchObject({ code: -32601, message: expect.stringContaining('"methods" of fromSdk') })
    },
  )

  it('are not announced, unless they are named [guarded.methods]', async () => {
    const hello = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const closed = await (await withTask({})).ask(BOB, 'initialize', hello)
    expect(closed.result?.capabilities).toMatchObject({ tools: {} })
    expect(closed.result?.capabilities).not.toHaveProperty('tasks')
    const open = await (await withTask({ methods: ['tasks/get'] })).ask(BOB, 'initialize', hello)
    expect(open.result?.capabilities).toHaveProperty('tasks')
  })

  it.each<FromSdkOptions>([{ methods: ['tasks/result'] }, { scopes: { methods: { 'tasks/result': [] } } }])(
    'with %j tasks/result is served [guarded.methods]',
    async (options) => {
      const { ask, taskId } = await withTask(options)
      expect(JSON.stringify(await ask(BOB, 'tasks/result', { taskId }))).toContain("ann's diagnosis")
      expect((await ask(BOB, 'tasks/list')).error?.code).toBe(-32601)
    },
  )
})

it.each([
  ['v1', createV1],
  ['v2', createV2],
] as const)(
  'SDK %s: the page leaves out what needs a scope, as lists do [auth.page]',
  async (_sdk, factory) => {
    const page = new Request('https://mcp.example/', { headers: { accept: 'text/html' } })
    const open = fromSdk(factory, { log: false })
    const shown = await (await open.fetch(page)).text()
    const [, name = ''] = /<h3><code>([^<]+)/.exec(shown) ?? []
    expect(name).not.toBe('')
    const guarded = fromSdk(factory, { log: false, auth: 'host', scopes: { tools: { [name]: ['admin'] } } })
    expect(await (await guarded.fetch(page)).text()).not.toContain(`<code>${name}</code>`)
    const { message } = await readAnswer(await guarded.fetch(legacyRequest('tools/list')))
    expect(JSON.stringify(message?.result)).not.toContain(`"${name}"`)
  },
)

describe.each([
  ['v1', createV1],
  ['v2', createV2],
] as const)('SDK %s', (_sdk, factory) => {
  it.each(['orders/export', 'tasks/list', 'constructor', 'Tools/List', ''])(
    'the method %j that nobody named → -32601, and no server is made [guarded.methods]',
    async (method) => {
      let made = 0
      const server = fromSdk(
        (context) => {
          made++
          return factory(context)
        },
        { log: false },
      )
      const { message } = await readAnswer(await server.fetch(legacyRequest(method, {})))
      expect(message?.error?.code).toBe(-32601)
      expect((await server.fetch(post({ jsonrpc: '2.0', method: `notifications/${method}` }))).status).toBe(
        202,
      )
      expect(made).toBe(0)
    },
  )
})

it.each([['orders/export'], [[1]], [['']], [{ a: 1 }]])('methods: %j', (methods) => {
  const create = () => fromSdk(createV1, { methods: methods as string[] })
  expect(create).toThrow('"methods" must be a list of methods')
})
