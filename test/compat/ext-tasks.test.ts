/** The official client of the tasks extension, on its official SDK v2 client, against our server over HTTP. */
import { Client, SdkErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/node.ts'
import { createTool, MCPServer } from '../../src/index.ts'
import { createMemoryTasks } from '../../src/tasks.ts'

const MODERN = '2026-07-28'
const TASKS = 'io.modelcontextprotocol/tasks'
const clientInfo = { name: 'official', version: '1.0.0' }
const clientCapabilities = { elicitation: { form: {} } }

const publish = createTool({
  id: 'publish',
  description: 'Publishes what the user wants',
  inputSchema: z.object({ title: z.string() }),
  task: 'required',
  execute: async ({ title }, ctx) => {
    const draft = await ctx.step('draft', () => title.toUpperCase())
    await ctx.sleep('a moment', 50)
    const answer = await ctx.elicit(`Publish ${draft}?`, z.object({ sure: z.boolean() }))
    return answer.action === 'accept' ? `published ${draft}: ${answer.content.sure}` : 'left alone'
  },
})

const endless = createTool({
  id: 'endless',
  task: 'required',
  execute: (_input, ctx) =>
    new Promise<string>((resolve) => ctx.signal.addEventListener('abort', () => resolve('late'))),
})

/** Sends what the SDK's client would, and passes on the answer as it came: that client takes a task for an error. */
function createDispatch(url: string): RawClientDispatch {
  let id = 1000
  return async (request, { signal, context } = {}) => {
    const { method, params } = request as { method: string; params: { name?: string; taskId?: string } }
    const headers = new Headers(context?.headers)
    headers.set('content-type', 'application/json')
    headers.set('accept', 'application/json, text/event-stream')
    headers.set('mcp-protocol-version', MODERN)
    headers.set('mcp-method', method)
    headers.set('mcp-name', params.name ?? params.taskId ?? '')
    const body = JSON.stringify({ jsonrpc: '2.0', id: id++, method, params })
    const response = await fetch(url, { method: 'POST', headers, body, signal: signal ?? null })
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const last = isStream
      ? text
          .split('\n')
          .findLast((line) => line.startsWith('data: '))
          ?.slice(6)
      : text
    const { result, error } = JSON.parse(last ?? '{}')
    return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
  }
}

async function start(): Promise<string> {
  const tasks = createMemoryTasks({ pollIntervalMs: 100 })
  const server = new MCPServer({
    id: 'm',
    name: 'M',
    version: '1.0.0',
    log: false,
    tools: { publish, endless },
    tasks,
  })
  const { url, close } = await serve(server, { port: 0 })
  onTestFinished(close)
  return url
}

async function connect(url: string, extensions?: { [name: string]: Record<string, never> }): Promise<Client> {
  const client = new Client(clientInfo, {
    capabilities: { ...clientCapabilities, ...(extensions !== undefined && { extensions }) },
    versionNegotiation: { mode: { pin: MODERN } },
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}

async function open(url: string, asked: unknown[] = []) {
  const client = await connect(url)
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    rawDispatch: createDispatch(url),
    v2RequestFraming: { protocolVersion: MODERN, clientInfo, clientCapabilities },
    onInputRequest: createApplicationInputHandler({
      elicitation: ({ params }) => ({ action: 'accept', content: { sure: asked.push(params.message) > 0 } }),
      sampling: () => Promise.reject(new Error('not asked')),
      roots: () => Promise.reject(new Error('not asked')),
    }),
  })
  onTestFinished(() => session.close())
  return { client, session }
}

it('drives a task with a question to its end', async () => {
  const asked: unknown[] = []
  const { client, session } = await open(await start(), asked)
  expect(client.getServerCapabilities()?.extensions).toEqual({ [TASKS]: {} })
  const statuses: string[] = []

  const execution = await session.callTool('publish', { title: 'news' })
  expect(execution.kind).toBe('task')
  const { outcome } = await execution.settle({
    onEvent: (event) => {
      if (event.type === 'task') statuses.push(event.task.status)
    },
  })

  expect(resultFromTaskOutcome(outcome)).toMatchObject({
    content: [{ type: 'text', text: 'published NEWS: true' }],
  })
  expect(asked).toEqual(['Publish NEWS?'])
  expect(statuses).toContain('input_required')
})

it('resumes a task by its reference after a restart', async () => {
  const url = await start()
  const before = await open(url)
  const execution = await before.session.callTool('publish', { title: 'old' })
  if (execution.kind !== 'task') throw new Error('It is no task.')
  let kept = ''
  await execution.handoff((reference) => {
    kept = JSON.stringify(reference)
  })

  const { session } = await open(url)
  const { outcome } = await (await session.resumeTask(JSON.parse(kept))).settle()

  expect(outcome).toMatchObject({ status: 'completed' })
})

it('cancels a task', async () => {
  const { session } = await open(await start())
  const execution = await session.callTool('endless', {})
  await execution.cancel()

  expect((await execution.settle()).outcome).toMatchObject({ status: 'cancelled' })
})

it('the SDK’s client by itself takes a task for an error', async () => {
  const client = await connect(await start(), { [TASKS]: {} })

  await expect(client.callTool({ name: 'publish', arguments: { title: 'x' } })).rejects.toMatchObject({
    code: SdkErrorCode.UnsupportedResultType,
  })
})
