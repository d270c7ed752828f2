/** `openTelemetry({ flush })`: spans leave before the platform freezes the process. */
import type { Tracer } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTool } from '../../src/index.ts'
import { openTelemetry } from '../../src/otel.ts'
import { createMemoryTaskStore, createTasks } from '../../src/tasks.ts'
import { createServer, deferred, modernRequest } from './_client.ts'
import { TaskClient } from './tasks/_tasks.ts'

afterEach(() => vi.useRealTimers())

const chatty = createTool({
  id: 'chatty',
  execute: async (_input, ctx) => {
    ctx.log('info', 'begun')
    return 'done'
  },
})

function observe() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return {
    tracer: provider.getTracer('test') as Tracer,
    finished: () => exporter.getFinishedSpans().map(({ name }) => name),
  }
}

/** A platform that waits for what it is given, and no longer. */
function platform() {
  const waits: Promise<unknown>[] = []
  return { waits, waitUntil: (work: Promise<unknown>) => void waits.push(work) }
}

function serverOf(flush: () => unknown, tracer?: Tracer) {
  const reported: string[] = []
  const server = createServer({
    tools: { chatty },
    telemetry: openTelemetry({ flush, ...(tracer && { tracer }) }),
    onError: (error) => void reported.push((error as Error).message),
  })
  return { server, reported }
}

describe('flush of openTelemetry', () => {
  it.each([
    ['a buffered response', {}],
    ['a stream', { meta: { 'io.modelcontextprotocol/logLevel': 'info' } }],
  ])('%s: runs once after its span has ended, and waitUntil waits for it', async (_what, options) => {
    const { tracer, finished } = observe()
    const seen: string[][] = []
    const sent = deferred<void>()
    const { server } = serverOf(() => {
      seen.push(finished())
      return sent.promise
    }, tracer)
    const { waits, waitUntil } = platform()
    const response = await server.fetch(
      modernRequest('tools/call', { name: 'chatty' }, options),
      {},
      {
        waitUntil,
      },
    )
    expect(await response.text()).toContain('done')
    expect(seen).toEqual([['tools/call chatty']])
    let isOver = false
    const all = Promise.all(waits).then(() => {
      isOver = true
    })
    await Promise.resolve()
    expect(isOver).toBe(false)
    sent.resolve()
    await all
  })

  it('the response does not wait for it, and a flush that never ends is given up after 2 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { server, reported } = serverOf(() => new Promise(() => {}))
    const { waits, waitUntil } = platform()
    const response = await server.fetch(modernRequest('tools/call', { name: 'chatty' }), {}, { waitUntil })
    expect(response.status).toBe(200)
    await vi.advanceTimersByTimeAsync(2000)
    await Promise.all(waits)
    expect(reported).toEqual([
      'Spans may be lost: The function "flush" of openTelemetry did not answer within 2000 ms. (check the address of the collector, and that it answers) Where a response waits for it, none does for the next minute.',
    ])
  })

  it('one that hangs holds a platform once a minute, is tried meanwhile, and holds it again once it answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    let hangs = true
    let tries = 0
    const { server, reported } = serverOf(() => {
      tries++
      return hangs ? new Promise(() => {}) : undefined
    })
    /** Milliseconds that a platform which waits, as Lambda does, waits for a call. */
    const heldFor = async () => {
      const { waits, waitUntil } = platform()
      await server.fetch(modernRequest('tools/call', { name: 'chatty' }), {}, { waitUntil })
      const begunAt = Date.now()
      let ended: number | undefined
      void Promise.all(waits).then(() => {
        ended = Date.now() - begunAt
      })
      await vi.advanceTimersByTimeAsync(5000)
      return ended
    }
    const held: (number | undefined)[] = []
    while (held.length < 26) held.push(await heldFor())
    expect(held.flatMap((ms, index) => (ms === 0 ? [] : [[index, ms]]))).toEqual([
      [0, 2000],
      [13, 2000],
    ])
    expect(tries).toBe(26)
    expect(reported).toHaveLength(2)
    hangs = false
    await heldFor()
    const { waits, waitUntil } = platform()
    await server.fetch(modernRequest('tools/call', { name: 'chatty' }), {}, { waitUntil })
    expect(waits.length).toBeGreaterThan(0)
    await Promise.all(waits)
    expect(tries).toBe(28)
  })

  it('of many calls while it hangs, one flush at a time runs; it rejects where nothing waits → no unhandled error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const open = [deferred<void>(), deferred<void>()]
    let tries = 0
    const { server, reported } = serverOf(() => open[tries++]!.promise)
    const call = () => server.fetch(modernRequest('tools/call', { name: 'chatty' }), {}, platform())
    await call()
    await vi.advanceTimersByTimeAsync(2000)
    await Promise.all(Array.from({ length: 50 }, call))
    expect(tries).toBe(2)
    open[1]!.reject(new Error('refused'))
    await vi.advanceTimersByTimeAsync(2000)
    expect(reported).toHaveLength(1)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no collector')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no collector'))],
  ])('one that %s changes no response, and is reported once a minute', async (_how, flush) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { server, reported } = serverOf(flush)
    const { waits, waitUntil } = platform()
    const call = async () => {
      const response = await server.fetch(modernRequest('tools/call', { name: 'chatty' }), {}, { waitUntil })
      expect(response.status).toBe(200)
      await Promise.all(waits)
    }
    await call()
    await call()
    expect(reported).toEqual([expect.stringContaining('no collector')])
    vi.setSystemTime(Date.now() + 60_000)
    await call()
    expect(reported).toHaveLength(2)
  })

  it('a run of a task: after its span, and its invocation waits for it', async () => {
    const { tracer, finished } = observe()
    const sent: string[][] = []
    const client = new TaskClient({
      tasks: createTasks({ store: createMemoryTaskStore() }),
      tools: { work: createTool({ id: 'work', task: 'required', execute: async () => 'done' }) },
      telemetry: openTelemetry({
        tracer,
        flush: async () => {
          const spans = finished()
          await new Promise((resolve) => setImmediate(resolve))
          sent.push(spans)
        },
      }),
    })
    await client.call('work')
    await client.settle()
    expect(sent).toEqual([['tools/call work'], ['tools/call work', 'run work']])
  })

  it('is refused where it is not a function', () => {
    expect(() => openTelemetry({ flush: 'forceFlush' as never })).toThrow(/flush/)
  })
})
