/** When a call ends: by the platform's limit or the server's own, whichever comes first, or by none. And how large its answer may be. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createTool,
  type HttpConfig,
  jsonSchema,
  type McpContext,
  type RequestPlatform,
} from '../../src/index.ts'
import { eventually } from '../_eventually.ts'
import { callTool, createServer, deferred, META, modernRequest, readAnswer, textOf } from './_client.ts'

const JSON_ONLY = { accept: 'application/json' }
const START = 1_800_000_000_000

/** A call that waits for `answer`. */
async function waiting(
  http: HttpConfig,
  platform: RequestPlatform,
  options: Parameters<typeof modernRequest>[2] = { headers: JSON_ONLY },
) {
  const { promise, resolve: answer } = deferred<unknown>()
  const started = deferred<McpContext>()
  const tool = createTool({
    id: 'tool',
    execute: (_input, ctx) => {
      started.resolve(ctx)
      return promise
    },
  })
  const server = createServer({ tools: { tool }, http: { deadlineMarginMs: 100, ...http } })
  const response = server.handle(modernRequest('tools/call', { name: 'tool' }, options), platform)
  return { ctx: await started.promise, answer, answered: response.then(readAnswer) }
}

type ToolFunction = (input: unknown, ctx: McpContext) => unknown

/** An `AbortController` whose `abort` can be passed on. */
function controller() {
  const over = new AbortController()
  return { signal: over.signal, abort: () => over.abort() }
}

const DAY_MS = 86_400_000

describe('a call', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START }))
  afterEach(() => void vi.useRealTimers())

  it('without any limit → goes on for days', async () => {
    const { ctx, answer, answered } = await waiting({ maxCallMs: 0 }, {})
    expect(ctx.deadline).toBeUndefined()
    await vi.advanceTimersByTimeAsync(3 * DAY_MS)
    expect(ctx.signal.aborted).toBe(false)
    answer('at last')
    expect(textOf(await answered)).toBe('at last')
  })

  it('of a platform whose limit is further away than a timer reaches → goes on', async () => {
    const { ctx, answer, answered } = await waiting({ maxCallMs: 0 }, { deadline: START + 30 * DAY_MS })
    await vi.advanceTimersByTimeAsync(DAY_MS)
    expect(ctx.signal.aborted).toBe(false)
    answer('done')
    expect(textOf(await answered)).toBe('done')
  })

  it.each<[string, HttpConfig, RequestPlatform, string, number]>([
    [
      'the platform’s comes first',
      { maxCallMs: 5000 },
      { deadline: START + 2000, deadlineName: 'P' },
      'P',
      1900,
    ],
    [
      'the server’s comes first',
      { maxCallMs: 1000 },
      { deadline: START + 5000, deadlineName: 'P' },
      'the limit "http.maxCallMs" of this server',
      1000,
    ],
    [
      'the first byte must come before the platform’s',
      { maxCallMs: 0 },
      { deadline: START + 5000, firstByteBy: START + 2000, deadlineName: 'P' },
      'P',
      1900,
    ],
    [
      'the platform’s comes before that of the first byte',
      { maxCallMs: 0 },
      { deadline: START + 2000, firstByteBy: START + 5000, deadlineName: 'P' },
      'P',
      1900,
    ],
    [
      'only the first byte has a time',
      { maxCallMs: 0 },
      { firstByteBy: START + 2000, deadlineName: 'P' },
      'P',
      1900,
    ],
    [
      'the platform’s is the only one',
      { maxCallMs: 0 },
      { deadline: START + 2000, deadlineName: 'P' },
      'P',
      1900,
    ],
  ])('%s → ends then, and says by which limit', async (_label, http, platform, name, afterMs) => {
    const { ctx, answered } = await waiting(http, platform)
    await vi.advanceTimersByTimeAsync(afterMs - 1)
    expect(ctx.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(ctx.signal.aborted).toBe(true)
    expect((await answered).error?.data).toMatchObject({ limit: 'deadline', name })
  })

  it.each<[string, RequestPlatform, number | undefined]>([
    ['buffered, by the first byte', { deadline: START + 9000, firstByteBy: START + 4000 }, START + 4000],
    ['buffered, by the end', { deadline: START + 4000, firstByteBy: START + 9000 }, START + 4000],
    ['buffered, without one for the first byte', { deadline: START + 9000 }, START + 9000],
    ['buffered, without any', {}, undefined],
  ])('is told its deadline: %s', async (_label, platform, deadline) => {
    const { ctx, answer, answered } = await waiting({}, platform)
    expect(ctx.deadline).toBe(deadline)
    answer('')
    await answered
  })

  it('is told its deadline: a stream, by the end alone', async () => {
    const { ctx, answer, answered } = await waiting(
      {},
      { deadline: START + 9000, firstByteBy: START + 4000 },
      {},
    )
    expect(ctx.deadline).toBe(START + 9000)
    answer('')
    await answered
  })
})

describe('the place of a tool that never ends', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START }))
  afterEach(() => void vi.useRealTimers())

  /** A server for one call at once, whose caller has left. */
  async function left(http: HttpConfig, platform: RequestPlatform, execute: ToolFunction) {
    const started = deferred()
    const run: ToolFunction = (input, ctx) => {
      started.resolve()
      return execute(input, ctx)
    }
    const tools = {
      tool: createTool({ id: 'tool', execute: run }),
      other: createTool({ id: 'other', execute: () => 'served' }),
    }
    const server = createServer({
      tools,
      http: { maxConcurrentCalls: 1, deadlineMarginMs: 0, ...http },
    })
    const { signal, abort } = controller()
    const options = { headers: JSON_ONLY, signal, meta: { [META.clientCapabilities]: { elicitation: {} } } }
    const response = server.handle(modernRequest('tools/call', { name: 'tool' }, options), platform)
    await started.promise
    // Before a question that was just asked could suspend the call.
    abort()
    expect((await response).status).toBe(499)
    return async () => (await callTool(server, 'other')).status
  }

  const never = () => new Promise<never>(() => {})

  it.each<[string, HttpConfig, RequestPlatform]>([
    ['maxCallMs', { maxCallMs: 5000 }, {}],
    ['the platform’s deadline', { maxCallMs: 0 }, { deadline: START + 5000 }],
  ])('is held until %s, and no longer', async (_what, http, platform) => {
    const other = await left(http, platform, never)
    expect(await other()).toBe(503)
    await vi.advanceTimersByTimeAsync(4999)
    expect(await other()).toBe(503)
    await vi.advanceTimersByTimeAsync(2)
    expect(await other()).toBe(200)
  })

  it('is given back at once by a tool that stops when it is told to', async () => {
    const other = await left({}, {}, (_input, ctx) => {
      const { signal } = ctx
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    })
    expect(await other()).toBe(200)
  })

  it('is given back at once by a tool that waits for an answer which cannot come any more', async () => {
    const other = await left({}, {}, (_input, ctx) => {
      const asked = ctx.elicit('Go on?', jsonSchema({ type: 'object', properties: {} }))
      return Promise.race([asked, never()])
    })
    // What the question is called is digested outside of the clock.
    await eventually(async () => expect(await other()).toBe(200))
  })
})

describe('a result', () => {
  it.each(['plain text', 'Grüße 水 👍'])('of exactly maxResponseBytes passes: %s', async (text) => {
    const server = createServer({ tools: { tool: createTool({ id: 'tool', execute: () => text }) } })
    const answerWithin = async (maxResponseBytes?: number) => {
      const request = modernRequest('tools/call', { name: 'tool' }, { headers: JSON_ONLY })
      return server.handle(request, maxResponseBytes === undefined ? {} : { maxResponseBytes })
    }
    const { byteLength } = await (await answerWithin()).arrayBuffer()
    expect(textOf(await readAnswer(await answerWithin(byteLength)))).toBe(text)
    expect((await readAnswer(await answerWithin(byteLength - 1))).error?.data).toEqual({
      limit: 'responseBytes',
      bytes: byteLength,
      maxBytes: byteLength - 1,
    })
  })
})
