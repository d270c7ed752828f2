import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type AnyTool,
  createResource,
  createTool,
  ErrorCode,
  type HttpConfig,
  type MCPServer,
  type McpContext,
  ProtocolError,
} from '../../src/index.ts'
import { createTool as createSdkTool, type SdkToolContext } from '../../src/sdk-context.ts'
import {
  callTool,
  createServer,
  deferred,
  legacyRequest,
  META,
  modern,
  modernRequest,
  readAnswer,
  StreamReader,
  textOf,
} from './_client.ts'

const LOGGING = { [META.logLevel]: 'debug' }

/** A tool that a test drives: it waits for `answer`, and shows its context. */
function driven(http: HttpConfig = {}) {
  const { promise, resolve: answer, reject: fail } = deferred<unknown>()
  const started = deferred<McpContext>()
  const tool = createTool({
    id: 'tool',
    execute: (_input, ctx) => {
      started.resolve(ctx)
      return promise
    },
  })
  return { server: createServer({ tools: { tool }, http }), answer, fail, context: started.promise }
}

function serverOf(execute: (ctx: McpContext & SdkToolContext) => unknown): MCPServer {
  const tool: AnyTool = createSdkTool({
    id: 'tool',
    execute: (_input, ctx) => execute(ctx as McpContext & SdkToolContext),
  })
  return createServer({ tools: { tool } })
}

const callRequest = (options: Parameters<typeof modernRequest>[2] = {}) =>
  modernRequest('tools/call', { name: 'tool' }, options)

/** Lets everything that is ready run. */
const settle = () => vi.advanceTimersByTimeAsync(0)

beforeEach(() => {
  vi.useFakeTimers()
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})
afterEach(() => {
  // Whatever ends a request must leave nothing behind that keeps a process or an isolate awake.
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('JSON or SSE', () => {
  it('nothing before the result → JSON [streaming.json]', async () => {
    const answer = await callTool(
      serverOf(async () => 'done'),
      'tool',
    )
    expect([answer.isStream, answer.headers.get('content-type')]).toEqual([false, 'application/json'])
    expect(textOf(answer)).toBe('done')
  })

  it.each([
    ['a synchronous tool', (ctx: McpContext) => tell(ctx)],
    ['an asynchronous tool', async (ctx: McpContext) => tell(ctx)],
  ])('%s that notifies → a stream with the result last [streaming.notify]', async (_kind, execute) => {
    const answer = await callTool(serverOf(execute), 'tool', {}, { meta: LOGGING })
    expect([answer.status, answer.isStream]).toEqual([200, true])
    expect(answer.notifications).toEqual([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hello' } },
    ])
    expect(answer.message).toMatchObject({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } })
    expect(textOf(answer)).toBe('told')
  })

  it('the stream begins at the notification, not at the result [streaming.notify]', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ meta: LOGGING }))
    const ctx = await context
    ctx.log('info', 'started')
    const stream = new StreamReader(await response)
    expect(await stream.next()).toMatchObject({ params: { data: 'started' } })
    ctx.log('info', 'still here')
    expect(await stream.next()).toMatchObject({ params: { data: 'still here' } })
    answer('done')
    expect(await stream.next()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    expect(await stream.next()).toBeUndefined()
  })

  it('asks proxies not to buffer, nor anybody to store [streaming.unbuffered]', async () => {
    const { headers } = await callTool(serverOf(tell), 'tool', {}, { meta: LOGGING })
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('cache-control')).toContain('no-cache')
    expect(headers.get('x-request-id')).not.toBeNull()
  })

  it.each([
    undefined,
    'application/json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'application/json, text/event-stream;q=0',
    'application/json, text/event-stream; q=0.000',
    'text/event-stream;q=0, */*',
    'application/x-text/event-stream',
  ])('Accept %s → JSON, notifications dropped [streaming.accept]', async (accept) => {
    const answer = await callTool(serverOf(tell), 'tool', {}, { meta: LOGGING, headers: { accept } })
    expect([answer.status, answer.isStream]).toEqual([200, false])
    expect(textOf(answer)).toBe('told')
  })

  it.each([
    'Application/JSON, Text/Event-Stream',
    'application/json,text/event-stream;q=0.5',
    'application/json;q=0.9, text/*',
    'text/event-stream, */*;q=0.1',
  ])('Accept %s → a stream where there is something to stream [streaming.accept]', async (accept) => {
    const streamed = await callTool(serverOf(tell), 'tool', {}, { meta: LOGGING, headers: { accept } })
    expect(streamed.isStream).toBe(true)
    const plain = serverOf(() => 'quick')
    expect((await callTool(plain, 'tool', {}, { headers: { accept } })).isStream).toBe(false)
  })

  it.each(['TEXT/EVENT-STREAM', 'text/*', 'text/event-stream, application/json;q=0'])(
    'Accept %s → a stream alone [streaming.accept]',
    async (accept) => {
      const plain = serverOf(() => 'quick')
      expect((await callTool(plain, 'tool', {}, { headers: { accept } })).isStream).toBe(true)
    },
  )

  it('Accept text/event-stream alone → a stream, even of one result [streaming.accept]', async () => {
    const headers = { accept: 'text/event-stream' }
    for (const answer of [
      await callTool(
        serverOf(() => 'quick'),
        'tool',
        {},
        { headers },
      ),
      await callTool(
        serverOf(async () => 'quick'),
        'tool',
        {},
        { headers },
      ),
      await modern(
        serverOf(() => ''),
        'tools/list',
        {},
        { headers },
      ),
    ]) {
      expect([answer.status, answer.isStream, answer.notifications]).toEqual([200, true, []])
      expect(answer.result).toMatchObject({ resultType: 'complete' })
    }
  })

  it('on a platform that cannot stream → JSON, whatever is accepted [streaming.buffered-platform]', async () => {
    const platform = { canStream: false }
    for (const accept of ['application/json, text/event-stream', 'text/event-stream']) {
      const answer = await callTool(
        serverOf(tell),
        'tool',
        {},
        { meta: LOGGING, headers: { accept }, platform },
      )
      expect([answer.isStream, textOf(answer)]).toEqual([false, 'told'])
    }
  })

  it('an error after the first notification → the last event [streaming.notify]', async () => {
    const server = serverOf((ctx) => {
      ctx.log('info', 'hello')
      throw new ProtocolError(ErrorCode.invalidParams, 'No')
    })
    const answer = await callTool(server, 'tool', {}, { meta: LOGGING })
    expect(answer.isStream).toBe(true)
    expect(answer.message).toMatchObject({ id: 1, error: { code: ErrorCode.invalidParams, message: 'No' } })
  })

  it('data with line breaks stays one event [streaming.notify]', async () => {
    const text = 'one\ntwo\r\nthree\rdata: four\n\n: five'
    const server = serverOf((ctx) => {
      ctx.log('info', text)
      return text
    })
    const answer = await callTool(server, 'tool', {}, { meta: LOGGING })
    expect(answer.notifications[0]?.params?.data).toBe(text)
    expect(textOf(answer)).toBe(text)
  })

  it('what a tool sends after its answer goes nowhere [progress.throttle]', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ meta: { ...LOGGING, progressToken: 1 } }))
    const ctx = await context
    ctx.log('info', 'in time')
    answer('done')
    const { notifications } = await readAnswer(await response)
    ctx.log('info', 'too late')
    ctx.reportProgress({ progress: 9 })
    expect(notifications).toHaveLength(1)
  })
})

describe('a slow answer', () => {
  it('becomes a stream after streamAfterMs, alive from its first byte [streaming.slow]', async () => {
    const { server, context, answer } = driven({ streamAfterMs: 3000, keepAliveMs: 15_000 })
    const settled = vi.fn()
    const response = server.fetch(callRequest())
    response.then(settled)
    await context
    await vi.advanceTimersByTimeAsync(2999)
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    const stream = new StreamReader(await response)
    expect(await stream.next()).toHaveProperty('comment')
    await vi.advanceTimersByTimeAsync(30_000)
    expect([await stream.next(), await stream.next()]).toEqual([
      { comment: 'keep-alive' },
      { comment: 'keep-alive' },
    ])
    answer('done')
    expect(await stream.next()).toMatchObject({ result: { content: [{ text: 'done' }] } })
    expect(await stream.next()).toBeUndefined()
  })

  it('the same in the legacy era, and for setup [streaming.slow]', async () => {
    const setUp = deferred<void>()
    const server = createServer({
      tools: { t: createTool({ id: 't', execute: () => 'ok' }) },
      setup: () => setUp.promise,
    })
    const response = server.fetch(legacyRequest('tools/list'))
    await vi.advanceTimersByTimeAsync(3000)
    expect((await response).headers.get('content-type')).toBe('text/event-stream')
    setUp.resolve()
    expect((await readAnswer(await response)).result).toHaveProperty('tools')
  })

  it('stays JSON for a client that takes nothing else [streaming.accept]', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ headers: { accept: 'application/json' } }))
    await context
    await vi.advanceTimersByTimeAsync(60_000)
    answer('done')
    expect(textOf(await readAnswer(await response))).toBe('done')
  })

  it('keeps its status as long as nothing was streamed [modern.capability]', async () => {
    const { server, context, fail } = driven()
    const response = server.fetch(callRequest())
    await context
    fail(new ProtocolError(ErrorCode.invalidParams, 'No', undefined, { status: 400 }))
    expect((await response).status).toBe(400)
  })
})

describe('a client that goes away', () => {
  it('closing the stream aborts ctx.signal, and nothing more is sent [streaming.cancel]', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ meta: { ...LOGGING, progressToken: 'p' } }))
    const ctx = await context
    ctx.log('info', 'started')
    const stream = new StreamReader(await response)
    await stream.next()
    expect(ctx.signal.aborted).toBe(false)
    await stream.cancel()
    expect(ctx.signal.aborted).toBe(true)
    expect(ctx.signal.reason).toMatchObject({ name: 'AbortError' })
    ctx.log('info', 'to nobody')
    ctx.reportProgress({ progress: 1 })
    answer('to nobody')
    await settle()
    expect(await stream.next()).toBeUndefined()
  })

  it('before the answer → ctx.signal aborts, an empty 499 [streaming.disconnect]', async () => {
    const { server, context, answer } = driven()
    const client = new AbortController()
    const response = server.fetch(callRequest({ signal: client.signal }))
    const { signal } = await context
    client.abort()
    expect([(await response).status, await (await response).text()]).toEqual([499, ''])
    expect(signal.aborted).toBe(true)
    answer('to nobody')
    await settle()
  })

  it('during the stream → ctx.signal aborts [streaming.disconnect]', async () => {
    const { server, context, answer } = driven()
    const client = new AbortController()
    const response = server.fetch(callRequest({ signal: client.signal, meta: LOGGING }))
    const ctx = await context
    ctx.log('info', 'started')
    await response
    client.abort()
    expect(ctx.signal.aborted).toBe(true)
    answer('to nobody')
    await settle()
  })

  it('before the tool was asked → a signal that is aborted already [streaming.disconnect]', async () => {
    const { server, context, answer } = driven()
    const response = server.handle(callRequest(), {})
    const { signal } = await context
    answer('')
    await response
    expect(signal.aborted).toBe(false)

    const gone = driven()
    const request = new Request(callRequest(), { signal: AbortSignal.abort() })
    const { status } = await gone.server.fetch(request)
    expect(status).toBe(499)
    expect((await gone.context).signal.aborted).toBe(true)
    gone.answer('')
    await settle()
  })

  it('a reader that lets 8 MiB pile up is cut off [streaming.cancel]', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ meta: LOGGING }))
    const ctx = await context
    for (let sent = 0; sent < 9 && !ctx.signal.aborted; sent++) ctx.log('info', 'x'.repeat(1024 * 1024))
    expect(ctx.signal.aborted).toBe(true)
    await expect((await response).text()).rejects.toThrow()
    answer('')
    await settle()
  })

  it.each(['tools/call', 'resources/read'])(
    'is no fault of the server: a %s that stops for it is not reported [streaming.disconnect]',
    async (method) => {
      const started = deferred()
      const stop = (_input: unknown, { signal }: McpContext) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          started.resolve()
        })
      const server = createServer({
        tools: { tool: createTool({ id: 'tool', execute: stop }) },
        resources: [createResource({ uri: 'a://1', read: stop })],
      })
      const client = new AbortController()
      const params = method === 'tools/call' ? { name: 'tool' } : { uri: 'a://1' }
      const response = server.fetch(modernRequest(method, params, { signal: client.signal }))
      await started.promise
      client.abort()
      expect((await response).status).toBe(499)
      await settle()
      expect(console.error).not.toHaveBeenCalled()
    },
  )
})

describe('the platform’s deadline', () => {
  const DEADLINE = { code: ErrorCode.internal, data: { limit: 'deadline' } }

  it('ends a tool that never ends, with a typed error, and aborts ctx.signal [streaming.deadline]', async () => {
    const { server, context, answer } = driven({ deadlineMarginMs: 1000, streamAfterMs: 60_000 })
    const response = server.handle(callRequest(), {
      deadline: Date.now() + 10_000,
      deadlineName: 'the timeout of the function',
    })
    const { signal } = await context
    await vi.advanceTimersByTimeAsync(8999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.aborted).toBe(true)
    const { error } = await readAnswer(await response)
    expect(error).toMatchObject({ ...DEADLINE, data: { name: 'the timeout of the function' } })
    expect(error?.message).toContain('the timeout of the function')
    answer('to nobody')
    await settle()
  })

  it('ends a stream the same way [streaming.deadline]', async () => {
    const { server, context, answer } = driven({ deadlineMarginMs: 1000 })
    const response = server.handle(callRequest({ meta: { progressToken: 1 } }), {
      deadline: Date.now() + 10_000,
    })
    const ctx = await context
    ctx.reportProgress({ progress: 1 })
    ctx.reportProgress({ progress: 2 })
    await vi.advanceTimersByTimeAsync(9000)
    const { notifications, error, isStream } = await readAnswer(await response)
    expect(isStream).toBe(true)
    expect(notifications.map(({ params }) => params?.progress)).toEqual([1, 2])
    expect(error).toMatchObject(DEADLINE)
    answer('to nobody')
    await settle()
  })

  it('of the first byte ends what cannot be streamed, and only that [streaming.deadline]', async () => {
    const { server, context, answer } = driven({ deadlineMarginMs: 1000, streamAfterMs: 3000 })
    const platform = { deadline: Date.now() + 60_000, firstByteBy: Date.now() + 10_000 }
    const buffered = server.handle(callRequest({ headers: { accept: 'application/json' } }), platform)
    await context
    await vi.advanceTimersByTimeAsync(9000)
    expect((await readAnswer(await buffered)).error).toMatchObject(DEADLINE)
    const streamed = server.handle(callRequest(), platform)
    await vi.advanceTimersByTimeAsync(20_000)
    answer('at last')
    expect(textOf(await readAnswer(await streamed))).toBe('at last')
  })

  it('that has passed already ends the call at once [streaming.deadline]', async () => {
    const { server, context, answer } = driven()
    const response = server.handle(callRequest(), { deadline: Date.now() - 1 })
    await context
    await vi.advanceTimersByTimeAsync(1)
    expect((await readAnswer(await response)).error).toMatchObject(DEADLINE)
    answer('')
    await settle()
  })

  it('further away than a timer reaches does not end it [streaming.deadline]', async () => {
    const { server, context, answer } = driven()
    const response = server.handle(callRequest({ headers: { accept: 'application/json' } }), {
      deadline: Date.now() + 2 ** 40,
    })
    const { signal } = await context
    await vi.advanceTimersByTimeAsync(60_000)
    expect(signal.aborted).toBe(false)
    answer('done')
    expect(textOf(await readAnswer(await response))).toBe('done')
  })
})

function tell(ctx: McpContext): string {
  ctx.log('info', 'hello')
  return 'told'
}

describe('what a tool does after it has answered', () => {
  it.each([
    [
      'at once',
      (log: () => void) => {
        setTimeout(log, 10)
        return 'done'
      },
    ],
    [
      'later',
      async (log: () => void) => {
        setTimeout(log, 10)
        return 'done'
      },
    ],
  ])(
    '%s: logs and progress go nowhere, and leave no stream or timer [streaming.after]',
    async (_when, work) => {
      const late: unknown[] = []
      const server = serverOf((ctx) =>
        work(() => {
          ctx.log('error', 'late')
          ctx.reportProgress({ progress: 1 })
          void ctx.sendNotification({ method: 'notifications/message', params: {} }).catch(() => {})
          late.push(true)
        }),
      )
      const meta = { ...LOGGING, progressToken: 'p' }
      const answer = await callTool(server, 'tool', {}, { meta })
      expect([answer.isStream, textOf(answer)]).toEqual([false, 'done'])
      await vi.advanceTimersByTimeAsync(11)
      expect(late).toEqual([true])
      expect(vi.getTimerCount()).toBe(0)
    },
  )
})
