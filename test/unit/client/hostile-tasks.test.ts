/** Servers whose tasks are malformed, or without end. Their questions: hostile-task-questions.test.ts. */
import { describe, expect, it } from 'vitest'
import type { DetailedTask } from '../../../src/client.ts'
import { onCall } from '../../hostile/server/answers.ts'
import { HELLO } from '../../hostile/server/server.ts'
import { asking, completed, question, TASK_ID, task, tasking } from '../../hostile/server/tasks.ts'
import { visit } from './_hostile.ts'

const failed = { code: 'REQUEST_FAILED', server: 'evil' }

describe('a malformed task', () => {
  it.each([
    ['no id', { taskId: undefined }],
    ['an id that is no text', { taskId: { toString: 'evil' } }],
    ['an id of a megabyte', { taskId: 'a'.repeat(1024 * 1024) }],
    ['an unknown status', { status: 'napping' }],
    ['no creation', { createdAt: undefined }],
    ['a creation that is no text', { lastUpdatedAt: 7 }],
    ['no time to live', { ttlMs: undefined }],
    ['a negative interval', { pollIntervalMs: -1 }],
    ['an interval that is no number', { pollIntervalMs: '5' }],
    ['a message that is no text', { statusMessage: ['x'] }],
  ])('as the answer to a call, with %s', async (_what, changes) => {
    const { call, server } = await visit(tasking({ created: task(changes), look: () => completed() }))

    await expect(call()).rejects.toMatchObject(failed)

    expect(server.count('tasks/get')).toBe(0)
  })

  it.each([
    ['another id', completed({ taskId: 'other' })],
    ['no result', completed({ result: undefined })],
    ['a result that is a list', completed({ result: [] })],
    ['a result of another shape', completed({ result: { content: 'text' } })],
    ['a result that is a task', completed({ result: { resultType: 'task', ...task() } })],
    ['a result that asks', completed({ result: { resultType: 'input_required', inputRequests: {} } })],
    ['no error', task({ status: 'failed' })],
    ['an error without a code', task({ status: 'failed', error: { message: 'x' } })],
    ['no questions', task({ status: 'input_required' })],
    ['questions that are a list', asking([question()])],
    ['a question that is none', asking({ q: null })],
    ['a question of another kind', asking({ q: { method: 'sampling/createMessage', params: {} } })],
    ['a question without its form', asking({ q: { method: 'elicitation/create', params: { message: 1 } } })],
    ['questions as the answer itself', { resultType: 'input_required', inputRequests: { q: question() } }],
  ])('as it is looked at, with %s', async (_what, seen) => {
    const { call, server, client } = await visit(tasking({ look: () => seen }))
    let asked = 0
    client.elicitation.onRequest('evil', () => {
      asked++
      return { action: 'decline' }
    })

    await expect(call()).rejects.toMatchObject({ ...failed, task: { taskId: TASK_ID } })

    expect(server.count('tasks/get')).toBe(1)
    expect(asked).toBe(0)
  })

  it('the result is checked against the outputSchema of the tool', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const tools = [{ ...HELLO, outputSchema }]
    const results = [{ content: [] }, { content: [], structuredContent: { n: 'one' } }]
    for (const result of results) {
      const { client } = await visit(tasking({ look: () => completed({ result }), tools }))
      const { evil_hello } = await client.listTools()
      await expect(evil_hello!.execute()).rejects.toMatchObject(failed)
      await client.disconnect()
    }
    const good = { content: [], structuredContent: { n: 1 } }
    const { client } = await visit(tasking({ look: () => completed({ result: good }), tools }))
    expect(await (await client.listTools()).evil_hello!.execute()).toEqual({ n: 1 })
  })
})

describe('a task that was not asked for', () => {
  it('from a server that was not told of tasks', async () => {
    const { call, server } = await visit(tasking({ look: () => completed() }), { tasks: false })

    await expect(call()).rejects.toMatchObject({
      ...failed,
      message: expect.stringContaining('did not declare tasks'),
    })

    expect(server.count('tasks/get')).toBe(0)
    expect(JSON.stringify(server.seen)).not.toContain('modelcontextprotocol/tasks')
  })

  it('from a legacy server, which is told of no extension', async () => {
    const { call, server } = await visit(
      onCall(({ result }) => result({ resultType: 'task', ...task(), content: [] })),
    )

    await expect(call()).rejects.toMatchObject(failed)

    const initialize = server.seen.find(({ body }) => body.includes('"initialize"'))
    expect(initialize?.body).not.toContain('extensions')
  })

  it('from a server that declares no tasks', async () => {
    const { call } = await visit(tasking({ look: () => completed(), capabilities: { tools: {} } }))

    await expect(call()).rejects.toMatchObject({ code: 'UNSUPPORTED', task: { taskId: TASK_ID } })
  })
})

it('an id with line breaks adds no headers', async () => {
  const taskId = 'a\r\nx-evil: yes'
  const { call, server } = await visit(
    tasking({ created: completed({ taskId }), look: () => completed({ taskId }) }),
  )

  expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })

  const look = server.seen.find(({ body }) => body.includes('tasks/get'))
  expect(look?.headers).not.toHaveProperty('x-evil')
  expect(look?.headers).toHaveProperty('mcp-name')
})

describe('how often a task is looked at', () => {
  it('an interval of 0 does not make the client spin', async () => {
    const { client, server } = await visit(
      tasking({ created: task({ pollIntervalMs: 0 }), look: () => task({ pollIntervalMs: 0 }) }),
    )

    await expect(client.callTool('evil', 'hello', {}, { maxTaskMs: 1000 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      task: { status: 'working' },
    })

    expect(server.count('tasks/get')).toBeLessThanOrEqual(11)
    expect(server.count('tasks/cancel')).toBe(0)
  })

  it('an interval of years does not outlast maxTaskMs or the signal', async () => {
    const years = { pollIntervalMs: 1e300 }
    const { client, server } = await visit(tasking({ created: task(years), look: () => task(years) }))
    const call = client.callTool('evil', 'hello', {}, { maxTaskMs: 200 })

    await expect(call).rejects.toMatchObject({ code: 'TIMEOUT' })
    await expect(
      client.callTool('evil', 'hello', {}, { signal: AbortSignal.timeout(200) }),
    ).rejects.toMatchObject({ code: 'ABORTED' })

    await expect.poll(() => server.count('tasks/cancel')).toBe(1)
    expect(server.count('tasks/get')).toBe(0)
  })

  it('a task without an end fails after its time to live', async () => {
    const short = { ttlMs: 1 }
    const { call } = await visit(tasking({ created: task(short), look: () => task(short) }))

    await expect(call()).rejects.toMatchObject({ code: 'TASK_GONE', task: { ttlMs: 1 } })
  })

  it('a server that is away for a moment does not end the wait; one that is away for good does', async () => {
    const { call } = await visit(
      tasking({
        look: (count, { response, json }) => {
          if (count === 1) response.destroy()
          else if (count === 2) json({}, 503)
          else return completed()
          return undefined
        },
      }),
    )
    expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })

    const away = await visit(
      tasking({
        look: (_count, { json }) => {
          json({}, 503)
          return undefined
        },
      }),
    )
    await expect(away.client.tasks.wait('evil', TASK_ID, { maxTaskMs: 60_000 })).rejects.toMatchObject(failed)
    expect(away.server.count('tasks/get')).toBe(6)
  })

  it('timeoutMs is for each look', async () => {
    const { client } = await visit(tasking({ look: () => undefined }), { timeoutMs: 300 })

    await expect(client.tasks.get('evil', TASK_ID)).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('disconnect ends the wait, and leaves the task', async () => {
    const { client, call, server } = await visit(tasking({ look: () => task() }))
    const waiting = call()
    waiting.catch(() => {})
    await expect.poll(() => server.count('tasks/get')).toBeGreaterThan(0)

    await client.disconnect()

    await expect(waiting).rejects.toMatchObject({ code: 'DISCONNECTED' })
    expect(server.count('tasks/cancel')).toBe(0)
  })
})

describe('a giant', () => {
  it('result is RESPONSE_TOO_LARGE', async () => {
    const { call } = await visit(
      tasking({
        look: () => completed({ result: { content: [{ type: 'text', text: 'a'.repeat(300_000) }] } }),
      }),
      { maxResponseBytes: 100_000 },
    )

    await expect(call()).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE', task: { taskId: TASK_ID } })
  })

  it('message of an error is cut, on one line and printable', async () => {
    const message = `\u001b[31m${'x\n'.repeat(100_000)}`
    const error = { code: -32000, message }
    const { call } = await visit(tasking({ look: () => task({ status: 'failed', error }) }))

    const thrown = await call().catch((reason: Error) => reason)

    expect(thrown).toMatchObject({ code: 'TASK_FAILED', cause: { code: -32000 } })
    expect((thrown as Error).message).not.toMatch(/\p{Cc}/u)
    expect((thrown as Error).message.length).toBeLessThan(1500)
  })

  it('depth of a question fails the call', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const { call, client } = await visit(
      tasking({
        look: (_count, { response, message }) => {
          const text = JSON.stringify({
            jsonrpc: '2.0',
            id: message?.id,
            result: {
              resultType: 'complete',
              ...asking({ q: { method: 'elicitation/create', params: { a: 'deep' } } }),
            },
          })
          response.writeHead(200, { 'content-type': 'application/json' }).end(text.replace('"deep"', deep))
          return undefined
        },
      }),
    )
    client.elicitation.onRequest('evil', () => ({ action: 'decline' }))

    await expect(call()).rejects.toMatchObject(failed)
  }, 40_000)

  it('question is refused', async () => {
    const { call, client } = await visit(
      tasking({ look: () => asking({ q: question('a'.repeat(100_000)) }) }),
    )
    client.elicitation.onRequest('evil', () => ({ action: 'decline' }))

    await expect(call()).rejects.toMatchObject(failed)
  })
})

it('onTask that throws is reported, and the wait goes on', async () => {
  const { client, reported } = await visit(tasking({ look: () => completed() }))
  const seen: DetailedTask[] = []
  const onTask = (one: DetailedTask): void => {
    seen.push(one)
    throw new Error('mine')
  }

  expect(await client.callTool('evil', 'hello', {}, { onTask })).toMatchObject({
    content: [{ text: 'Hello' }],
  })

  expect(seen.map(({ status }) => status)).toEqual(['working', 'completed'])
  expect(reported).toMatchObject([{ code: 'LISTENER_FAILED' }, { code: 'LISTENER_FAILED' }])
})

it('a cancellation that fails is reported: the caller has already gone on', async () => {
  const error = { code: -32603, message: 'never' }
  const { client, reported } = await visit(
    tasking({
      look: () => task(),
      cancel: ({ json, message }) => json({ jsonrpc: '2.0', id: message?.id, error }),
    }),
  )
  const controller = new AbortController()
  const { signal } = controller
  const call = client.callTool('evil', 'hello', {}, { signal, onTask: () => controller.abort() })

  await expect(call).rejects.toMatchObject({ code: 'ABORTED' })

  await expect.poll(() => reported).toMatchObject([{ code: 'REQUEST_FAILED', operation: 'tasks/cancel' }])
})
