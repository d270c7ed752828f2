/** Tasks of a server behind, for the caller that started them. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../../src/auth.ts'
import type { MCPClient } from '../../../src/client.ts'
import { type GatewayServer, gateway } from '../../../src/gateway.ts'
import { createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { answerOf, modernRequest } from '../../property/_client.ts'
import { createClient, startMayfly } from '../client/_servers.ts'
import { connect, SECRET, startGateway } from './_servers.ts'

const book = createTool({
  id: 'book',
  task: 'required',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Book it?', z.object({ name: z.string() }))
    return answer.action === 'accept' ? `booked for ${answer.content.name}` : answer.action
  },
})
const endless = createTool({
  id: 'endless',
  task: 'required',
  execute: async (_input, ctx) => {
    await ctx.sleep('long', 60_000)
    return 'late'
  },
})

const far = (config: Partial<MCPServerConfig> = {}): Promise<string> =>
  startMayfly({ tools: { book, endless }, tasks: createMemoryTasks(), secret: SECRET, ...config })

interface Options {
  readonly server?: Partial<GatewayServer>
  readonly config?: Partial<MCPServerConfig>
}

async function startFront(url: string, { server, config }: Options = {}): Promise<string> {
  const servers = { shop: { url, ...server } as GatewayServer, other: { url } }
  return startGateway({ servers }, { secret: SECRET, ...config })
}

const start = async (client: MCPClient<'front'>, tool: string): Promise<string> => {
  const { task } = await client.callTool('front', tool, {}, { task: 'handle' })
  return task!.taskId
}

it('a call becomes a task, is asked about, answered and read to its end', async () => {
  const client = connect(await startFront(await far()))
  const onTask = vi.fn()
  const result = await client.callTool('front', 'shop_book', {}, { onTask })
  expect(result).toMatchObject({ content: [{ text: 'booked for Ann' }] })
  expect(onTask).toHaveBeenCalled()
})

it('its id is another one than behind, and tasks/get, update and cancel take it', async () => {
  const url = await far()
  const client = connect(await startFront(url))
  const id = await start(client, 'shop_endless')
  expect(id).toMatch(/^shop:1\./)
  expect(await client.tasks.get('front', id)).toMatchObject({ taskId: id, status: 'working' })
  await client.tasks.cancel('front', id)
  expect(await client.tasks.get('front', id)).toMatchObject({ taskId: id, status: 'cancelled' })
})

describe('no other caller can use it', () => {
  const auth = bearer((token) => ({ clientId: token, scopes: token === 'bob' ? [] : ['shop'] }))

  it.each(['get', 'update', 'cancel'] as const)('tasks/%s', async (method) => {
    const front = await startFront(await far(), { config: { auth } })
    const [ann, eve] = [connect(front, { token: 'ann' }), connect(front, { token: 'eve' })]
    const id = await start(ann, 'shop_endless')
    const ask = (client: MCPClient<'front'>, taskId: string) =>
      method === 'update' ? client.tasks.update('front', taskId, {}) : client.tasks[method]('front', taskId)
    await expect(ask(eve, id)).rejects.toMatchObject({ code: 'TASK_GONE' })
    // Nor as one of another server, nor in another form.
    for (const other of [id.replace('shop:', 'other:'), `${id}x`, 'shop:', 'shop:1.AAAA', 'none:1', 'x'])
      await expect(ask(ann, other)).rejects.toMatchObject({ code: 'TASK_GONE' })
    expect(await ann.tasks.get('front', id)).toMatchObject({ status: 'working' })
  })

  it('nor the same one once its token lacks the scope', async () => {
    let scopes = ['shop']
    const front = await startFront(await far(), {
      server: { scopes: ['shop'] },
      config: { auth: bearer((token) => ({ clientId: token, scopes })) },
    })
    const ann = connect(front, { token: 'ann' })
    const id = await start(ann, 'shop_endless')
    scopes = []
    await expect(ann.tasks.get('front', id)).rejects.toThrow('Insufficient scope')
  })

  it('is sent with the credentials of its caller', async () => {
    const url = await far({ auth: bearer((token) => ({ clientId: token, scopes: [] })) })
    const token = ({ auth: caller }: { auth?: { clientId: string } | undefined }) => caller?.clientId
    const front = await startFront(url, { server: { token } as Partial<GatewayServer>, config: { auth } })
    const ann = connect(front, { token: 'ann' })
    const id = await start(ann, 'shop_endless')
    expect(await ann.tasks.get('front', id)).toMatchObject({ status: 'working' })
  })
})

it('without a secret the server behind hears of no tasks, and the call is answered at once', async () => {
  const quick = createTool({ id: 'quick', task: 'required', execute: () => 'quick' })
  const servers = { shop: { url: await far({ tools: { quick } }) } }
  const client = connect(await startGateway({ servers }))
  const { task, result } = await client.callTool('front', 'shop_quick', {}, { task: 'handle' })
  expect([task, result]).toMatchObject([undefined, { content: [{ text: 'quick' }] }])
})

it('with middleware the server behind hears of no tasks, so that the middleware gets each result', async () => {
  const quick = createTool({ id: 'quick', task: 'required', execute: () => 'quick' })
  const use: MCPServerConfig['use'] = [async (_call, next) => ({ ...(await next()), _meta: { seen: true } })]
  const client = connect(await startFront(await far({ tools: { quick } }), { config: { use } }))
  const { task, result } = await client.callTool('front', 'shop_quick', {}, { task: 'handle' })
  expect([task, result]).toMatchObject([undefined, { content: [{ text: 'quick' }], _meta: { seen: true } }])
})

it('its own tasks are beside those behind', async () => {
  const client = connect(
    await startFront(await far(), { config: { tools: { endless }, tasks: createMemoryTasks() } }),
  )
  const ids = [await start(client, 'endless'), await start(client, 'shop_endless')]
  for (const id of ids) expect(await client.tasks.get('front', id)).toMatchObject({ taskId: id })
})

it('a caller without the extension gets the answer of the fallback', async () => {
  const url = await far({
    tools: { quick: createTool({ id: 'quick', task: 'required', execute: () => 'quick' }) },
  })
  const front = await startFront(url)
  const client = createClient({ servers: { front: { url: front, tasks: false } } })
  expect(await client.callTool('front', 'shop_quick')).toMatchObject({ content: [{ text: 'quick' }] })
})

describe('a hostile server behind', () => {
  const task = {
    taskId: 'abc',
    createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z',
    ttlMs: null,
  }

  /** A gateway before a server that answers `tools/call` with a task, and `tasks/get` with `details`. */
  function createFront(started: object, details: object) {
    const P = 'io.modelcontextprotocol/'
    const answers: { [method: string]: object } = {
      'server/discover': {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions: { [`${P}tasks`]: {} } },
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [`${P}serverInfo`]: { name: 'e', version: '1' } },
      },
      'tools/list': {
        tools: [{ name: 'do', inputSchema: { type: 'object' } }],
        ttlMs: 0,
        cacheScope: 'private',
      },
      'tools/call': { resultType: 'task', ...started },
      'tasks/get': details,
    }
    const send = async (_url: string | URL, init?: RequestInit): Promise<Response> => {
      const { id, method } = JSON.parse(String(init?.body ?? '{}'))
      const result = { resultType: 'complete', ...answers[method] }
      return Response.json({ jsonrpc: '2.0', id, result })
    }
    const front = new MCPServer({
      id: 'front',
      name: 'Front',
      version: '1',
      log: false,
      onError: () => {},
      secret: SECRET,
      gateway: gateway({ servers: { evil: { url: 'https://evil.internal/mcp', fetch: send } } }),
    })
    const meta = {
      [`${P}clientCapabilities`]: { elicitation: { form: {}, url: {} }, extensions: { [`${P}tasks`]: {} } },
    }
    const ask = async (method: string, params: object) =>
      answerOf(await front.fetch(modernRequest(method, { params: { ...params }, meta })))
    return {
      call: () => ask('tools/call', { name: 'evil_do' }),
      get: async () => {
        const { result } = await ask('tools/call', { name: 'evil_do' })
        return ask('tasks/get', { taskId: (result as { taskId: string }).taskId })
      },
    }
  }
  const working = { ...task, status: 'working' }

  it('cannot ask what the client has not declared, nor have a user open any address', async () => {
    const inputRequests = {
      form: { method: 'elicitation/create', params: { message: 'Name?', requestedSchema: {} } },
      url: {
        method: 'elicitation/create',
        params: { mode: 'url', url: 'https://pay.example/', message: 'x' },
      },
      script: {
        method: 'elicitation/create',
        params: { mode: 'url', url: 'javascript:alert(1)', message: 'x' },
      },
      model: { method: 'sampling/createMessage', params: {} },
      other: { method: 'tools/call', params: {} },
      proto: { method: 'constructor', params: {} },
    }
    const { result } = await createFront(working, { ...task, status: 'input_required', inputRequests }).get()
    expect(Object.keys((result as { inputRequests: object }).inputRequests)).toEqual(['form', 'url'])
  })

  it('cannot show its address, speak for the gateway, or put more into a task', async () => {
    const error = { code: -32000, message: 'no evil.internal:8080', data: { secret: 1 } }
    const failed = {
      ...task,
      status: 'failed',
      error,
      statusMessage: 'at https://evil.internal/x',
      more: 'x',
    }
    const { result } = await createFront(working, failed).get()
    expect(result).toMatchObject({
      error: { code: -32000, message: 'no …' },
      statusMessage: 'at https://…/x',
    })
    expect(JSON.stringify(result)).not.toMatch(/secret|more/)
    const _meta = { 'mayfly/upstream': { server: 'bank', code: 'UNAUTHORIZED' } }
    const completed = { ...task, status: 'completed', result: { content: [], _meta } }
    expect(JSON.stringify(await createFront(working, completed).get())).not.toContain('bank')
  })

  it.each([
    ['another task', { ...working, taskId: 'other' }],
    ['no status', task],
    ['a result that is none', { ...task, status: 'completed', result: 'x' }],
  ])('that answers with %s is a failure of that server', async (_what, details) => {
    const { error } = await createFront(working, details).get()
    expect(error).toMatchObject({ data: { 'mayfly/upstream': { server: 'evil' } } })
  })

  const long = Buffer.from(crypto.getRandomValues(new Uint8Array(900))).toString('base64url')
  it.each([long.slice(0, 1000), ''])(
    'with an id that cannot be passed on: the call fails',
    async (taskId) => {
      const { result, error } = await createFront({ ...working, taskId }, working).call()
      expect(error ?? result).toMatchObject(error ? {} : { isError: true })
      expect(JSON.stringify([result, error])).not.toContain(long.slice(0, 30))
    },
  )
})
