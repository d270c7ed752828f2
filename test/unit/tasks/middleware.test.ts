/** Middleware around the calls of tools with `task`: around the call that creates a task, and around each of its runs. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../../src/auth.ts'
import { createTool, type MCPServerConfig, type ToolCall, type ToolMiddleware } from '../../../src/index.ts'
import { createMemoryTaskStore, createMemoryTasks, createTasks } from '../../../src/tasks.ts'
import { META } from '../_client.ts'
import { TaskClient } from './_tasks.ts'

const executed = vi.fn(({ text }: { text: string }) => text)
const say = createTool({
  id: 'say',
  task: 'required',
  inputSchema: z.object({ text: z.string() }),
  execute: executed,
})

function serve(use: ToolMiddleware[], config: Partial<MCPServerConfig> = {}) {
  executed.mockClear()
  return new TaskClient({ tools: { say }, tasks: createMemoryTasks(), use, onError: () => {}, ...config })
}

const shout: ToolMiddleware = async ({ arguments: sent }, next) => {
  const { content } = await next({ ...sent, text: `${sent.text}!` })
  return { content, _meta: { seen: true } }
}

describe('a tool whose call creates a task', () => {
  it('has it around the call, and around the run that makes the result', async () => {
    const calls: ToolCall[] = []
    const note: ToolMiddleware = (call, next) => {
      calls.push(call)
      return next()
    }
    const auth = bearer((token) => ({ clientId: token, scopes: [] }))
    const client = serve([note, shout], { auth })
    const options = { headers: { authorization: 'Bearer ada' } }
    const { taskId } = await client.call('say', { text: 'hello' }, options)
    await client.settle()
    const { result } = await client.get(taskId, options)
    // Once, from the arguments that the client has sent.
    expect(result).toMatchObject({ content: [{ text: 'hello!' }], _meta: { seen: true } })
    expect(executed).toHaveBeenCalledTimes(1)
    expect(
      calls.map(({ task, auth: caller, context }) => [
        task,
        caller?.token,
        caller?.clientId,
        !!context.request,
      ]),
    ).toEqual([
      ['create', 'ada', 'ada', true],
      ['run', '', 'ada', false],
    ])
  })

  it.each([
    ['an error', () => Promise.reject(new Error('Closed.'))],
    ['a result of its own', () => ({ content: [{ type: 'text' as const, text: 'Closed.' }], isError: true })],
  ])('is refused before there is a task, by %s', async (_what, middleware) => {
    const store = createMemoryTaskStore()
    const client = serve([middleware], { tasks: createTasks({ store }) })
    const { result } = await client.send('tools/call', { name: 'say', arguments: { text: 'x' } })
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'Closed.' }], isError: true })
    await client.settle()
    expect(await store.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([])
  })

  it('that is refused in its run completes with the refusal', async () => {
    const client = serve([
      ({ task }, next) => (task === 'run' ? Promise.reject(new Error('Closed.')) : next()),
    ])
    const { taskId } = await client.call('say', { text: 'x' })
    await client.settle()
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Closed.' }], isError: true },
    })
  })

  it('whose store is down fails as without middleware', async () => {
    const store = { ...createMemoryTaskStore(), create: () => Promise.reject(new Error('a secret address')) }
    const ask = async (use: ToolMiddleware[]) => {
      const client = serve(use, { tasks: createTasks({ store }) })
      return (await client.send('tools/call', { name: 'say', arguments: { text: 'x' } })).message
    }
    const answer = await ask([shout])
    expect(answer).toEqual(await ask([]))
    expect(JSON.stringify(answer)).not.toContain('secret')
  })
})

it('a call that asks and becomes a task has it again in each run', async () => {
  const tasks: unknown[] = []
  const book = createTool({
    id: 'book',
    task: 'required',
    execute: async (_input, ctx) => {
      const answer = await ctx.elicit('Name?', z.object({ name: z.string() }))
      return answer.action === 'accept' ? answer.content.name : answer.action
    },
  })
  const note: ToolMiddleware = async ({ task }, next) => {
    tasks.push(task)
    return { ...(await next()), _meta: { seen: true } }
  }
  const client = serve([note], { tools: { book } })
  const { taskId } = await client.call('book')
  const { inputRequests } = await client.until(taskId, 'input_required')
  const [key] = Object.keys(inputRequests!)
  await client.update(taskId, { [key!]: { action: 'accept', content: { name: 'Ann' } } })
  const { result } = await client.until(taskId, 'completed')
  expect(result).toMatchObject({ content: [{ text: 'Ann' }], _meta: { seen: true } })
  expect(tasks).toEqual(['create', 'run', 'run'])
})

it('a call that stays one has it once, without a task', async () => {
  const tasks: unknown[] = []
  const quick = createTool({ id: 'quick', task: 'auto', execute: () => 'quick' })
  const note: ToolMiddleware = ({ task }, next) => {
    tasks.push(task)
    return next()
  }
  const client = serve([note], { tools: { quick } })
  expect(await client.call('quick')).toMatchObject({ content: [{ text: 'quick' }] })
  expect(tasks).toEqual([undefined])
})

it('a client without the extension gets the result or the handle, refused likewise', async () => {
  const plain = { meta: { [META.clientCapabilities]: {} } }
  const refusing = serve([() => Promise.reject(new Error('Closed.'))])
  const call = { name: 'say', arguments: { text: 'x' } }
  expect((await refusing.send('tools/call', call, plain)).result).toMatchObject({
    content: [{ text: 'Closed.' }],
    isError: true,
  })
  const client = serve([shout])
  const { result } = await client.send('tools/call', call, plain)
  expect(JSON.stringify(result)).toMatch(/x!|continues as task/)
})
