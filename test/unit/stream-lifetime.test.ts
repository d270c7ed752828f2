/** A response that becomes a stream is one stream, ends once, and leaves nothing behind. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTool, type HttpConfig, type McpContext } from '../../src/index.ts'
import { createServer, deferred, META, modernRequest, readAnswer, StreamReader, textOf } from './_client.ts'

const LOGGING = { [META.logLevel]: 'debug' }
const MEGABYTE = 1024 * 1024
const ONLY_SSE = { accept: 'text/event-stream' }

/** A tool that a test drives: it waits for `answer`, and shows its context. */
function driven(http: HttpConfig = {}) {
  const { promise, resolve: answer } = deferred<unknown>()
  const started = deferred<McpContext>()
  const tool = createTool({
    id: 'tool',
    execute: (_input, ctx) => {
      started.resolve(ctx)
      return promise
    },
  })
  return { server: createServer({ tools: { tool }, http }), answer, context: started.promise }
}

const callRequest = (options: Parameters<typeof modernRequest>[2] = {}) =>
  modernRequest('tools/call', { name: 'tool' }, { meta: LOGGING, ...options })

/** Of the real clock. */
const nextTurn = setImmediate

/** Lets everything that is ready run. */
const settle = () => vi.advanceTimersByTimeAsync(0)

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  vi.useFakeTimers()
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
})
afterEach(async () => {
  // The cancellation of a body arrives in a later turn where the machine is busy.
  for (let turn = 0; turn < 100 && vi.getTimerCount() > 0; turn++) await new Promise(nextTurn)
  expect(vi.getTimerCount()).toBe(0)
  expect(reported).not.toHaveBeenCalled()
  reported.mockRestore()
  vi.useRealTimers()
})

describe('one stream', () => {
  it('for a client that takes nothing else: notifications and the result', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ headers: ONLY_SSE }))
    const ctx = await context
    ctx.log('info', 'one')
    answer('done')
    const { notifications, ...rest } = await readAnswer(await response)
    expect(notifications.map(({ params }) => params?.data)).toEqual(['one'])
    expect(textOf({ ...rest, notifications })).toBe('done')
  })

  it('where it began before streamAfterMs: the time comes, and changes nothing', async () => {
    const { server, context, answer } = driven({ streamAfterMs: 1000, keepAliveMs: 60_000 })
    const response = server.fetch(callRequest())
    const ctx = await context
    // The clock runs by now.
    await vi.advanceTimersByTimeAsync(500)
    ctx.log('info', 'early')
    await vi.advanceTimersByTimeAsync(5000)
    ctx.log('info', 'late')
    answer('done')
    const { notifications, ...rest } = await readAnswer(await response)
    expect(notifications.map(({ params }) => params?.data)).toEqual(['early', 'late'])
    expect(textOf({ ...rest, notifications })).toBe('done')
  })
})

describe('an end that comes twice', () => {
  it.each([
    ['JSON', {}],
    ['a stream', ONLY_SSE],
  ])('a client that leaves after its answer as %s has not left the call', async (_kind, headers) => {
    const { server, context, answer } = driven()
    const client = new AbortController()
    const response = server.fetch(callRequest({ signal: client.signal, headers }))
    const ctx = await context
    answer('done')
    await readAnswer(await response)
    client.abort()
    await settle()
    expect(ctx.signal.aborted).toBe(false)
  })

  it('a stream that is cancelled with its result unread: the call is over, and was not aborted', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest({ headers: ONLY_SSE }))
    const ctx = await context
    answer('done')
    await settle()
    await (await response).body!.cancel()
    await settle()
    expect(ctx.signal.aborted).toBe(false)
  })

  it.each([
    ['JSON or a stream', {}],
    ['a stream alone', ONLY_SSE],
  ])('a tool that goes on for a client that left, which takes %s', async (_kind, headers) => {
    const { server, context, answer } = driven()
    const client = new AbortController()
    const response = server.fetch(callRequest({ signal: client.signal, headers }))
    const ctx = await context
    await vi.advanceTimersByTimeAsync(1)
    client.abort()
    expect((await response).status).toBe(499)
    ctx.log('info', 'to nobody')
    ctx.reportProgress({ progress: 1 })
    answer('to nobody')
    await settle()
  })
})

describe('a reader that does not read', () => {
  it('is cut off by a keep-alive too, and the call aborted', async () => {
    const { server, context, answer } = driven({ keepAliveMs: 1000 })
    const response = server.fetch(callRequest())
    const ctx = await context
    ctx.log('info', 'x'.repeat(9 * MEGABYTE))
    expect(ctx.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1000)
    expect(ctx.signal.aborted).toBe(true)
    await expect((await response).text()).rejects.toThrow()
    answer('to nobody')
    await settle()
  })

  it('is cut off by the result too, which is no fault of the server', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest())
    const ctx = await context
    ctx.log('info', 'x'.repeat(9 * MEGABYTE))
    answer('done')
    await settle()
    await expect((await response).text()).rejects.toThrow()
  })

  it('but catches up is not cut off', async () => {
    const { server, context, answer } = driven()
    const response = server.fetch(callRequest())
    const ctx = await context
    ctx.log('info', 'x'.repeat(5 * MEGABYTE))
    const stream = new StreamReader(await response)
    for (let sent = 0; sent < 4; sent++) {
      ctx.log('info', 'x'.repeat(2 * MEGABYTE))
      await stream.next()
    }
    answer('done')
    expect(await stream.next()).toHaveProperty('params')
    expect(await stream.next()).toHaveProperty('result')
    expect(await stream.next()).toBeUndefined()
    expect(ctx.signal.aborted).toBe(false)
  })
})
