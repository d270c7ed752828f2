/** Calls that become tasks, on real servers of ours. */
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { type DetailedTask, MCPClient, type ServerConfig } from '../../../src/client.ts'
import { createTool, MCPServer, type MCPServerConfig, ProtocolError } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { createClient, startFetchServer, startMayfly, startSessionServer } from './_servers.ts'

const confirm = z.object({ confirm: z.boolean() })
const seconds = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What a task waits for, told from outside. */
function createGate(): { opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

const gate = createGate()
const seen: string[] = []

const report = createTool({
  id: 'report',
  task: 'required',
  inputSchema: z.object({ year: z.number() }),
  outputSchema: z.object({ text: z.string() }),
  execute: async ({ year }, ctx) => {
    ctx.reportProgress({ progress: 1, total: 2, message: 'loaded' })
    await ctx.sleep('a moment', 50)
    const answer = await ctx.elicit('Publish?', confirm)
    const confirmed = answer.action === 'accept' ? answer.content.confirm : undefined
    return { text: `${year} ${answer.action} ${confirmed}` }
  },
})

const failing = createTool({
  id: 'failing',
  task: 'required',
  inputSchema: z.object({ how: z.string() }),
  execute: ({ how }) => {
    if (how === 'tool') throw new Error('no luck')
    throw new ProtocolError(-32077, 'no \u001b[31mprotocol', { why: 'so' })
  },
})

const endless = createTool({
  id: 'endless',
  task: 'required',
  execute: (_input, ctx) =>
    new Promise<string>((resolve) => {
      seen.push(`begun ${ctx.taskId}`)
      ctx.signal.addEventListener('abort', () => resolve('late'))
    }),
})

const asksFirst = createTool({
  id: 'asksFirst',
  task: 'auto',
  execute: async (_input, ctx) => {
    const first = await ctx.elicit('Now?', confirm)
    await ctx.sleep('a moment', 50)
    const second = await ctx.elicit('Later?', confirm)
    return `${first.action} ${second.action}`
  },
})

const gated = createTool({
  id: 'gated',
  task: { mode: 'required', fallback: 'handle' },
  execute: async () => {
    await gate.opened
    return 'through'
  },
})

const quick = createTool({ id: 'quick', task: 'auto', execute: () => 'quick' })

const CONFIG: Partial<MCPServerConfig> = {
  secret: secretOf('s'),
  tools: { report, failing, endless, asksFirst, gated, quick },
  onError: () => {},
}

async function start(config: Partial<ServerConfig> = {}) {
  const url = await startMayfly({ ...CONFIG, tasks: createMemoryTasks({ pollIntervalMs: 100 }) })
  const servers = { m: { url, timeoutMs: 5000, ...config } as ServerConfig }
  return { url, client: createClient({ id: crypto.randomUUID(), servers }) }
}

describe('callTool', () => {
  it('waits through a task: its questions, its changes, its result', async () => {
    const { client } = await start()
    const asked: string[] = []
    client.elicitation.onRequest('m', ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { confirm: true } }
    })
    const tasks: DetailedTask[] = []

    const result = await client.callTool(
      'm',
      'report',
      { year: 2026 },
      { onTask: (task) => tasks.push(task) },
    )

    expect(result.structuredContent).toEqual({ text: '2026 accept true' })
    expect(asked).toEqual(['Publish?'])
    const statuses = tasks.map(({ status }) => status)
    expect(statuses[0]).toBe('working')
    expect(statuses).toContain('input_required')
    expect(statuses.at(-1)).toBe('completed')
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1)
    expect(client.errors).toEqual({})
  })

  it('execute of a listed tool does the same', async () => {
    const { client } = await start()
    client.elicitation.onRequest('m', () => ({ action: 'decline' }))
    const tools = await client.listTools()
    let changes = 0

    const answer = await tools.m_report!.execute({ year: 1 }, { onTask: () => changes++ })

    expect(answer).toEqual({ text: '1 decline undefined' })
    expect(changes).toBeGreaterThan(1)
  })

  it('a question before the task and one of the task: each is asked once', async () => {
    const { client } = await start()
    const asked: string[] = []
    client.elicitation.onRequest('m', ({ message }) => {
      asked.push(message)
      return { action: asked.length === 1 ? 'accept' : 'decline', content: { confirm: true } }
    })

    const result = await client.callTool('m', 'asksFirst')

    expect(result.content).toMatchObject([{ text: 'accept decline' }])
    expect(asked).toEqual(['Now?', 'Later?'])
  })

  it('a user who thinks longer than a request and maxTaskMs may take', async () => {
    const { client } = await start({ timeoutMs: 1000, maxTaskMs: 600 })
    client.elicitation.onRequest('m', async () => {
      await seconds(1500)
      return { action: 'decline' }
    })

    const result = await client.callTool('m', 'report', { year: 1 })

    expect(result.structuredContent).toEqual({ text: '1 decline undefined' })
  })

  it('a tool that fails is isError; a task that fails has the code of the server', async () => {
    const { client } = await start()

    expect(await client.callTool('m', 'failing', { how: 'tool' })).toMatchObject({ isError: true })
    await expect(client.callTool('m', 'failing', { how: 'protocol' })).rejects.toMatchObject({
      code: 'TASK_FAILED',
      message: expect.stringContaining('no \\u001b[31mprotocol'),
      cause: { code: -32077, message: 'no \u001b[31mprotocol', data: { why: 'so' } },
      task: { status: 'failed', taskId: expect.any(String) },
    })
  })

  it('a task that is cancelled by somebody else', async () => {
    const { client } = await start()
    const call = client.callTool(
      'm',
      'endless',
      {},
      { onTask: ({ taskId }) => client.tasks.cancel('m', taskId) },
    )

    await expect(call).rejects.toMatchObject({ code: 'TASK_CANCELLED', task: { status: 'cancelled' } })
  })

  it('signal: ends the wait, and cancels the task', async () => {
    const { client } = await start()
    const controller = new AbortController()
    const { signal } = controller
    let taskId = ''
    const call = client.callTool(
      'm',
      'endless',
      {},
      {
        signal,
        onTask: (task) => {
          taskId = task.taskId
          controller.abort()
        },
      },
    )

    await expect(call).rejects.toMatchObject({ code: 'ABORTED', task: { taskId: expect.any(String) } })

    await expect.poll(async () => (await client.tasks.get('m', taskId)).status).toBe('cancelled')
  })

  it('maxTaskMs: ends the wait alone, and the error has the task', async () => {
    const { client } = await start()
    const error = await client.callTool('m', 'endless', {}, { maxTaskMs: 300 }).catch((reason) => reason)

    expect(error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('tasks.wait') })
    expect((await client.tasks.get('m', error.task.taskId)).status).toBe('working')
    await client.tasks.cancel('m', error.task.taskId)
    await expect(client.callTool('m', 'endless', {}, { maxTaskMs: 0 })).rejects.toThrow(TypeError)
  })

  it('without a handler a task that asks fails the wait, and the answer may come later', async () => {
    const { client } = await start()
    // The server leaves out what this client cannot answer, so the call is made by one that can.
    client.elicitation.onRequest('m', () => ({ action: 'accept' }))()
    const stop = client.elicitation.onRequest('m', () => ({ action: 'accept', content: { confirm: false } }))
    const { task } = await client.callTool('m', 'report', { year: 3 }, { task: 'handle' })
    stop()

    await expect(client.tasks.wait('m', task!.taskId)).rejects.toMatchObject({ code: 'UNSUPPORTED' })

    const onTask = (seen: DetailedTask): unknown => {
      if (seen.status !== 'input_required') return undefined
      const [key] = Object.keys(seen.inputRequests)
      return client.tasks.update('m', seen.taskId, {
        [key!]: { action: 'accept', content: { confirm: false } },
      })
    }
    const result = await client.tasks.wait('m', task!.taskId, { onTask })
    expect(result.structuredContent).toEqual({ text: '3 accept false' })
  })
})

describe('client.tasks', () => {
  it('a handle is resumed by its id, by another client', async () => {
    const { client, url } = await start()
    const { task, result } = await client.callTool('m', 'gated', {}, { task: 'handle' })
    expect(result).toBeUndefined()
    expect(task).toMatchObject({ status: 'working', pollIntervalMs: 100 })
    await client.disconnect()

    const next = new MCPClient({ servers: { again: { url } } })
    onTestFinished(() => next.disconnect())
    const waiting = next.tasks.wait('again', task!.taskId)
    gate.open()

    expect((await waiting).content).toMatchObject([{ text: 'through' }])
    // The result is still there.
    expect((await next.tasks.wait('again', task!.taskId)).content).toMatchObject([{ text: 'through' }])
  })

  it('task: handle of a call that is answered at once resolves with the result', async () => {
    const { client } = await start()
    const { task, result } = await client.callTool('m', 'quick', {}, { task: 'handle' })

    expect(task).toBeUndefined()
    expect(result).toMatchObject({ content: [{ text: 'quick' }] })
  })

  it('an unknown id is TASK_GONE', async () => {
    const { client } = await start()
    const gone = { code: 'TASK_GONE', server: 'm' }

    await expect(client.tasks.get('m', 'none')).rejects.toMatchObject(gone)
    await expect(client.tasks.update('m', 'none', {})).rejects.toMatchObject(gone)
    await expect(client.tasks.cancel('m', 'none')).rejects.toMatchObject(gone)
    await expect(client.tasks.wait('m', 'none')).rejects.toMatchObject(gone)
    await expect(client.tasks.get('m', '')).rejects.toThrow(TypeError)
  })

  it('a server without tasks, and one that knows no modern protocol, are UNSUPPORTED', async () => {
    const url = await startMayfly({ tools: { quick: createTool({ id: 'quick', execute: () => '' }) } })
    const legacy = await startSessionServer()
    const client = createClient({ servers: { m: { url }, old: { url: legacy.url } } })

    await expect(client.tasks.get('m', 'none')).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await expect(client.tasks.get('old', 'none')).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  })

  it('a task whose time to live is over is TASK_GONE', async () => {
    const long = createTool({
      id: 'long',
      task: 'required',
      execute: (_input, ctx) => ctx.waitFor('never'),
    })
    const tasks = createMemoryTasks({ ttlMs: 400, pollIntervalMs: 100 })
    const client = createClient({ servers: { m: { url: await startMayfly({ tools: { long }, tasks }) } } })

    await expect(client.callTool('m', 'long')).rejects.toMatchObject({
      code: 'TASK_GONE',
      task: { status: 'working', ttlMs: 400 },
    })
  })
})

describe('tasks: false', () => {
  it('the extension is not declared, and the server answers as its tool says', async () => {
    const { client } = await start({ tasks: false })
    const { _meta, content } = await client.callTool('m', 'gated')

    expect(_meta).toHaveProperty(['mayfly/task'])
    expect(content).toMatchObject([{ text: expect.stringContaining('task_status') }])
    await expect(client.tasks.get('m', 'none')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('servers.m.tasks is false'),
    })
  })

  it('anything but a boolean is refused', () => {
    const servers = { m: { url: 'https://m.example/mcp', tasks: 'no' as never } }
    expect(() => new MCPClient({ servers })).toThrow('"tasks" of servers.m must be true or false')
    expect(() => new MCPClient({ servers: {}, maxTaskMs: Number.POSITIVE_INFINITY })).toThrow('maxTaskMs')
  })
})

it('legacy servers are not told of the extension, modern ones are in each request', async () => {
  const bodies: { method: string; params: { _meta?: object; capabilities?: object } }[] = []
  const server = new MCPServer({
    id: 'm',
    name: 'M',
    version: '1.0.0',
    log: false,
    tools: { quick: createTool({ id: 'quick', execute: () => '' }) },
  })
  const url = await startFetchServer({
    fetch: async (request: Request) => {
      const text = await request.clone().text()
      if (text !== '') bodies.push(JSON.parse(text))
      return server.fetch(request)
    },
  })
  const client = createClient({ servers: { m: { url } } })
  await client.callTool('m', 'quick')
  await client.disconnect()

  expect(bodies.map(({ method }) => method)).toEqual(['server/discover', 'tools/call'])
  for (const { params } of bodies)
    expect(JSON.stringify(params._meta)).toContain('io.modelcontextprotocol/tasks')
})
