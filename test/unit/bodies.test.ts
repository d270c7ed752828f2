/** How a body is read: what is wrong with it is said, and time and bytes are counted to the last. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cloudflare } from '../../adapters/cloudflare.ts'
import { ErrorCode } from '../../src/index.ts'
import { createServer, post, readAnswer, type SendOptions } from './_client.ts'

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const sendTo = async (http: object, body: BodyInit, options: SendOptions = {}) =>
  readAnswer(await createServer({ http }).fetch(post(body, options)))

afterEach(() => void vi.restoreAllMocks())

it('a body that is not JSON, not UTF-8, or breaks off → says which', async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
  const errors = []
  for (const body of ['{', Uint8Array.of(0xff), broken]) errors.push((await sendTo({}, body)).error)

  expect(errors.map((error) => error?.code)).toEqual(Array(3).fill(ErrorCode.parse))
  expect(new Set(errors.map((error) => error?.message)).size).toBe(3)
})

it('no body is not JSON, as an empty one', async () => {
  const { url, method, headers } = post('')
  const none = await readAnswer(await createServer().fetch(new Request(url, { method, headers })))
  expect([none.status, none.error]).toEqual([400, (await sendTo({}, '')).error])
})

describe('bytes', () => {
  const http = { maxBodyBytes: PING.length }

  it('a Content-Length of exactly maxBodyBytes → served', async () => {
    const headers = { 'content-length': String(PING.length) }
    expect((await sendTo(http, PING, { headers })).result).toEqual({})
  })

  it('in chunks: counted together, and put together in their order', async () => {
    const chunked = (...parts: string[]) =>
      new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
    const parts = [PING.slice(0, 7), '', PING.slice(7, 20), PING.slice(20)]
    expect((await sendTo(http, chunked(...parts))).result).toEqual({})
    expect((await sendTo(http, chunked(...parts, ' '))).status).toBe(413)
  })
})

it('of a body in many chunks no chunk is kept', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const bytes = new TextEncoder().encode(PING.padEnd(1000))
  const chunks: WeakRef<Uint8Array>[] = []
  let kept: number | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (chunks.length === bytes.length) {
        // What a WeakRef was made of stays until its turn is over.
        await new Promise((resolve) => setTimeout(resolve))
        collect()
        kept = chunks.filter((chunk) => chunk.deref() !== undefined).length
        return controller.close()
      }
      const chunk = bytes.slice(chunks.length, chunks.length + 1)
      chunks.push(new WeakRef(chunk))
      controller.enqueue(chunk)
    },
  })
  expect((await sendTo({}, body)).result).toEqual({})
  expect(kept).toBeLessThan(10)
})

describe('time', () => {
  const halting = () => {
    let finish = (): void => {}
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(PING.slice(0, 5)))
        finish = () => {
          controller.enqueue(new TextEncoder().encode(PING.slice(5)))
          controller.close()
        }
      },
    })
    return { body, finish: () => finish() }
  }

  it('bodyTimeoutMs 0 → a body may take for ever', async () => {
    vi.useFakeTimers()
    try {
      const { body, finish } = halting()
      const answer = sendTo({ bodyTimeoutMs: 0 }, body)
      await vi.advanceTimersByTimeAsync(3_600_000)
      expect(vi.getTimerCount()).toBe(0)
      finish()
      expect((await answer).result).toEqual({})
    } finally {
      vi.useRealTimers()
    }
  })

  it('a body that comes in the last millisecond → served; one later → 408, and no timer is left', async () => {
    vi.useFakeTimers()
    try {
      for (const [afterMs, status] of [
        [99, 200],
        [100, 408],
      ] as const) {
        const { body, finish } = halting()
        const answer = sendTo({ bodyTimeoutMs: 100 }, body)
        await vi.advanceTimersByTimeAsync(afterMs)
        if (status === 200) finish()
        expect((await answer).status).toBe(status)
        expect(vi.getTimerCount()).toBe(0)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('a body that is there already → no timer is set', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const response = await createServer().fetch(post(PING))
    expect(set).not.toHaveBeenCalled()
    expect((await readAnswer(response)).result).toEqual({})
  })
})

describe('on a platform whose bodies arrive after their requests', () => {
  const headers = { 'content-length': String(PING.length) }
  const lateBody = () =>
    new ReadableStream({
      async start(controller) {
        await new Promise((resolve) => setImmediate(resolve))
        controller.enqueue(new TextEncoder().encode(PING))
        controller.close()
      },
    })

  it('after some of them the timer is set at once, until one is there in time again', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const server = createServer({ http: { bodyTimeoutMs: 4321 } })
    const timers = () => set.mock.calls.filter(([, ms]) => ms === 4321).length
    /** Whether a timer is set before the body has had a turn to arrive. */
    const isSetAtOnce = async (body: BodyInit) => {
      const before = timers()
      const serving = server.fetch(post(body, { headers }))
      const isSet = timers() > before
      expect((await readAnswer(await serving)).result).toEqual({})
      return isSet
    }

    expect(await isSetAtOnce(lateBody())).toBe(false)
    for (let sent = 0; sent < 10; sent++) await isSetAtOnce(lateBody())
    expect(await isSetAtOnce(lateBody())).toBe(true)
    for (let sent = 0; sent < 80; sent++) await isSetAtOnce(PING)
    const before = timers()
    expect([await isSetAtOnce(PING), timers() - before]).toEqual([false, 0])
  })

  // The classes of workerd.
  class ExecutionContext {
    waitUntil(): void {}
  }
  class DurableObjectState extends ExecutionContext {}

  it('where timers end with their request, as in a Worker, none is cleared', async () => {
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    const server = createServer({ http: { bodyTimeoutMs: 50 } })
    for (const serve of [server.fetch, cloudflare(server)]) {
      const response = await serve(post(lateBody(), { headers }), {}, new ExecutionContext())
      expect((await readAnswer(response)).result).toEqual({})
    }
    expect(cleared).not.toHaveBeenCalled()
  })

  it.each([
    ['a Durable Object', new DurableObjectState()],
    ['an app that passes waitUntil', { waitUntil() {} }],
    ['one that passes it without a prototype', Object.assign(Object.create(null), { waitUntil() {} })],
  ])('in %s, none is left to keep the request in memory and the process alive', async (_what, context) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const server = createServer()
      for (const serve of [server.fetch, cloudflare(server)]) {
        const response = await serve(post(lateBody(), { headers }), {}, context)
        expect((await readAnswer(response)).result).toEqual({})
      }
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('one that never arrives is refused in time, as the first', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const server = createServer({ http: { bodyTimeoutMs: 1000 } })
      for (let sent = 0; sent < 10; sent++) await server.fetch(post(lateBody(), { headers }))
      const serving = server.fetch(post(new ReadableStream(), { headers }))
      await vi.advanceTimersByTimeAsync(1000)
      expect((await serving).status).toBe(408)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
