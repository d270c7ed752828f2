/** Methods that stream: as subscriptions/listen is held, and ended, by the same code. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createMethod, type MethodContext } from '../../../src/extensions.ts'
import { type MCPServer, type MCPServerConfig, ProtocolError } from '../../../src/index.ts'
import { deferred, legacy, modern, modernRequest, type SendOptions, StreamReader } from '../_client.ts'
import { DECLARED, forecastServer, SUBSCRIPTION } from './_forecast.ts'

const CHANGED = 'notifications/forecast/changed'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const changed = (celsius: number) => ({
  jsonrpc: '2.0',
  method: CHANGED,
  params: { celsius, _meta: SUBSCRIPTION },
})

async function open(server: MCPServer, method: string, params: object = {}, options: SendOptions = {}) {
  const request = modernRequest(method, params as never, { ...DECLARED, ...options })
  const response = await server.handle(request, options.platform ?? {})
  return { response, stream: new StreamReader(response) }
}

/** A stream that waits for its signal, and tells what happened. */
function waiting(
  config: Partial<MCPServerConfig> = {},
  answer: (ctx: MethodContext) => object = () => ({ over: true }),
) {
  const seen: string[] = []
  const method = createMethod({
    async *stream(_params, ctx) {
      try {
        yield { method: CHANGED, params: { celsius: 0 } }
        await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
        seen.push((ctx.signal.reason as DOMException).name)
        return answer(ctx)
      } finally {
        seen.push('finally')
      }
    },
  })
  return { server: forecastServer({ methods: { 'forecast/wait': method } }, config), seen }
}

describe('a method that streams', () => {
  it('sends what it yields with the id of its request, then its result [extensions.stream]', async () => {
    const { response, stream } = await open(forecastServer(), 'forecast/watch', { times: 2 })

    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await stream.next()).toEqual(changed(1))
    expect(await stream.next()).toEqual(changed(2))
    expect(await stream.next()).toMatchObject({ id: 1, result: { times: 2, resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
  })

  it('a legacy client gets the same', async () => {
    const server = forecastServer({ declaration: 'optional' })
    const { notifications, result } = await legacy(server, 'forecast/watch', { times: 2 })

    expect(notifications).toEqual([changed(1), changed(2)])
    expect(result).toEqual({ times: 2 })
  })

  it('throws before it has sent anything → an error with its status, and no stream', async () => {
    const answer = await modern(forecastServer(), 'forecast/watch', { times: -1 }, DECLARED)
    expect(answer).toMatchObject({
      isStream: false,
      status: 400,
      error: { code: -32014, data: { times: -1 } },
    })
  })

  it('returns before it has sent anything → a result, and no stream', async () => {
    const answer = await modern(forecastServer(), 'forecast/watch', { times: 0 }, DECLARED)
    expect(answer).toMatchObject({ isStream: false, result: { times: 0 } })
  })

  it('is refused like any other: parameters, declaration', async () => {
    const server = forecastServer()
    expect((await modern(server, 'forecast/watch', { times: 'x' }, DECLARED)).error?.code).toBe(-32602)
    expect((await modern(server, 'forecast/watch', { times: 1 })).error?.code).toBe(-32021)
  })

  it('throws later → the error is the last message; what it threw is reported if it is none for clients', async () => {
    const errors: unknown[] = []
    const method = createMethod({
      paramsSchema: z.object({ isKnown: z.boolean() }),
      async *stream({ isKnown }) {
        yield { method: CHANGED, params: { celsius: 1 } }
        throw isKnown ? new ProtocolError(-32012, 'Forbidden') : new Error('the secret reason')
      },
    })
    const server = forecastServer(
      { methods: { 'forecast/fail': method } },
      { onError: (one) => errors.push(one) },
    )

    const known = await modern(server, 'forecast/fail', { isKnown: true }, DECLARED)
    const other = await modern(server, 'forecast/fail', { isKnown: false }, DECLARED)

    expect(known).toMatchObject({
      notifications: [changed(1)],
      error: { code: -32012, message: 'Forbidden' },
    })
    expect(other).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(errors.map(String)).toEqual(['Error: the secret reason'])
  })

  it('sends a notification that its extension does not name → -32603, reported, nothing sent', async () => {
    const errors: unknown[] = []
    const method = createMethod({
      async *stream() {
        yield { method: 'notifications/tools/list_changed' }
        return {}
      },
    })
    const server = forecastServer(
      { methods: { 'forecast/odd': method } },
      { onError: (one) => errors.push(one) },
    )

    const answer = await modern(server, 'forecast/odd', {}, DECLARED)

    expect(answer).toMatchObject({ isStream: false, error: { code: -32603 } })
    expect(String(errors[0])).toMatch(/is not in "notifications"/)
  })

  it('is asked for the next notification when its client has read the one before', async () => {
    let asked = 0
    const method = createMethod({
      async *stream() {
        for (;;) yield { method: CHANGED, params: { celsius: ++asked } }
      },
    })
    const { stream } = await open(forecastServer({ methods: { 'forecast/all': method } }), 'forecast/all')
    for (let at = 1; at <= 5; at++) expect(await stream.next()).toEqual(changed(at))
    await vi.advanceTimersByTimeAsync(60_000)

    expect(asked).toBeLessThan(10)
    await stream.cancel()
  })

  it('says nothing for a while → comments keep the stream alive; before its first word the stream opens after 2 s', async () => {
    const go = deferred()
    const method = createMethod({
      async *stream() {
        await go.promise
        yield { method: CHANGED, params: { celsius: 1 } }
        return {}
      },
    })
    const opening = open(forecastServer({ methods: { 'forecast/quiet': method } }), 'forecast/quiet')
    await vi.advanceTimersByTimeAsync(2000)
    const { stream } = await opening
    const next = stream.next()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await next).toEqual({ comment: 'keep-alive' })

    go.resolve()
    expect(await stream.next()).toEqual(changed(1))
    expect(await stream.next()).toMatchObject({ result: {} })
  })
})

describe('the end of a stream', () => {
  const finish = async (run: ReturnType<typeof waiting>, end: () => unknown, platform = {}) => {
    const { stream } = await open(run.server, 'forecast/wait', {}, { platform })
    expect(await stream.next()).toEqual(changed(0))
    const last = stream.next()
    await end()
    return { stream, last }
  }

  it('after http.maxListenMs: its signal aborts, and what it returns is the result [extensions.stream-end]', async () => {
    const run = waiting({ http: { maxListenMs: 3000 } })
    const { stream, last } = await finish(run, () => vi.advanceTimersByTimeAsync(3000))

    expect(await last).toMatchObject({ id: 1, result: { over: true } })
    expect(await stream.next()).toBeUndefined()
    expect(run.seen).toEqual(['TimeoutError', 'finally'])
  })

  it('before the deadline of the platform, by its margin', async () => {
    const run = waiting()
    const platform = { deadline: Date.now() + 4000 }
    const { last } = await finish(run, () => vi.advanceTimersByTimeAsync(3000), platform)

    expect(await last).toMatchObject({ result: { over: true } })
  })

  it('when the server closes', async () => {
    const run = waiting()
    const { last } = await finish(run, () => run.server.close())

    expect(await last).toMatchObject({ result: { over: true } })
  })

  it('code that goes on regardless → the error of the deadline after half a second', async () => {
    const method = createMethod({
      async *stream() {
        yield { method: CHANGED, params: { celsius: 0 } }
        await new Promise(() => {})
        return {}
      },
    })
    const server = forecastServer({ methods: { 'forecast/wait': method } }, { http: { maxListenMs: 3000 } })
    const { stream, last } = await finish({ server, seen: [] }, () => vi.advanceTimersByTimeAsync(3500))

    expect(await last).toMatchObject({ id: 1, error: { code: -32603, data: { limit: 'maxListenMs' } } })
    expect(await stream.next()).toBeUndefined()
  })

  it('code that yields without end when its time is over → the same', async () => {
    const method = createMethod({
      async *stream() {
        for (;;) yield { method: CHANGED, params: { celsius: 0 } }
      },
    })
    const server = forecastServer({ methods: { 'forecast/wait': method } }, { http: { maxListenMs: 1 } })
    vi.useRealTimers()
    const { stream } = await open(server, 'forecast/wait')
    const items: unknown[] = []
    for (let item = await stream.next(); item !== undefined; item = await stream.next()) items.push(item)
    vi.useFakeTimers()

    expect(items.at(-1)).toMatchObject({ error: { code: -32603 } })
  })

  it('a client that leaves → its signal aborts, and its finally runs', async () => {
    const run = waiting()
    const { stream } = await open(run.server, 'forecast/wait')
    await stream.next()
    await stream.cancel()
    await vi.advanceTimersByTimeAsync(0)

    expect(run.seen).toEqual(['AbortError', 'finally'])
  })

  it('a client that left before the first notification → nothing is held', async () => {
    const go = deferred()
    let isDone = false
    const method = createMethod({
      async *stream() {
        try {
          await go.promise
          yield { method: CHANGED }
          return {}
        } finally {
          isDone = true
        }
      },
    })
    const server = forecastServer({ methods: { 'forecast/wait': method } })
    const left = new AbortController()
    const opening = server.handle(
      modernRequest('forecast/wait', {}, { ...DECLARED, signal: left.signal }),
      {},
    )
    await vi.advanceTimersByTimeAsync(100)
    left.abort()
    go.resolve()
    await vi.advanceTimersByTimeAsync(2000)

    expect((await opening).status).toBe(499)
    expect(isDone).toBe(true)
  })
})

describe('the places of streams', () => {
  it('are those of subscriptions/listen: no more than http.maxListenStreams [extensions.stream-places]', async () => {
    const run = waiting({ http: { maxListenStreams: 1, callerShare: 1 } })
    const first = await open(run.server, 'forecast/wait')
    await first.stream.next()

    const refused = await modern(run.server, 'forecast/wait', {}, DECLARED)
    expect(refused).toMatchObject({ status: 503, error: { data: { limit: 'maxListenStreams' } } })

    await first.stream.cancel()
    const again = await open(run.server, 'forecast/wait')
    expect(await again.stream.next()).toEqual(changed(0))
    await again.stream.cancel()
  })

  it('are given back by streams that end before they begin', async () => {
    const server = forecastServer({}, { http: { maxListenStreams: 1, callerShare: 1 } })
    for (let time = 0; time < 3; time++) {
      expect((await modern(server, 'forecast/watch', { times: -1 }, DECLARED)).status).toBe(400)
      expect((await modern(server, 'forecast/watch', { times: 0 }, DECLARED)).result).toMatchObject({
        times: 0,
      })
    }
    expect((await modern(server, 'forecast/watch', { times: 1 }, DECLARED)).notifications).toHaveLength(1)
  })
})

describe('a response that cannot be streamed', () => {
  it.each([
    ['the platform', { platform: { canStream: false } }],
    ['the client', { headers: { accept: 'application/json' } }],
  ])(
    'because of %s → ctx.canStream is false; what it yields is an error, what it throws is its own',
    async (_what, options) => {
      const seen: boolean[] = []
      const method = createMethod({
        paramsSchema: z.object({ isAware: z.boolean() }),
        async *stream({ isAware }, ctx) {
          seen.push(ctx.canStream)
          if (isAware && !ctx.canStream) throw new ProtocolError(-32014, 'Unsupported')
          yield { method: CHANGED }
          return {}
        },
      })
      const server = forecastServer({ methods: { 'forecast/aware': method } })

      const own = await modern(server, 'forecast/aware', { isAware: true }, { ...DECLARED, ...options })
      const ours = await modern(server, 'forecast/aware', { isAware: false }, { ...DECLARED, ...options })

      expect(own).toMatchObject({ isStream: false, error: { code: -32014 } })
      expect(ours).toMatchObject({ isStream: false, error: { code: -32603, data: { feature: 'streaming' } } })
      expect(seen).toEqual([false, false])
    },
  )
})
