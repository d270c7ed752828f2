/** Runs of tasks, and the queue of due ones, as OpenTelemetry's own SDK exports them. */
import { context, propagation, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { Histogram } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { TaskContext } from '../../src/definition/task-option.ts'
import { createTool, type MCPServerConfig, ProtocolError } from '../../src/index.ts'
import { openTelemetry, type Telemetry } from '../../src/otel.ts'
import { createMemoryTaskStore, createTasks, type TaskStore, type TasksOptions } from '../../src/tasks.ts'
import { createTaskAdmin } from '../../src/tasks-admin.ts'
import { secretOf } from '../_secrets.ts'
import { deferred } from './_client.ts'
import { Contexts } from './_contexts.ts'
import { observeMetrics } from './_metrics.ts'
import { TaskClient } from './tasks/_tasks.ts'

/** Providers of their own, and what they have exported. */
function observe() {
  const spans = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const { meter, pointsOf } = observeMetrics()
  return {
    tracer: tracers.getTracer('test'),
    telemetry: openTelemetry({ tracer: tracers.getTracer('test'), meter }),
    runs: () => spans.getFinishedSpans().filter(({ name }) => name.startsWith('run ')),
    calls: () => spans.getFinishedSpans().filter(({ name }) => name.startsWith('tools/call')),
    spans: () => spans.getFinishedSpans(),
    /** Each time series of a metric: its attributes and its value, of a histogram how often. */
    async series(metric: string) {
      return (await pointsOf(metric)).map(({ attributes, value }) => ({
        attributes,
        value: typeof value === 'number' ? value : (value as Histogram).count,
      }))
    },
  }
}

type Tools = NonNullable<MCPServerConfig['tools']>

/** A client of a server that nothing but requests and `runDue` runs. */
function clientOf(
  telemetry: Telemetry | undefined,
  tools: Tools,
  {
    store = createMemoryTaskStore(),
    ...more
  }: Partial<TasksOptions & { store: TaskStore }> & Pick<MCPServerConfig, 'onError' | 'setup'> = {},
) {
  const { onError, setup, ...options } = more
  const tasks = createTasks({ store, runner: { wake: () => {} }, ...options })
  return new TaskClient({
    id: 'shop',
    tools,
    tasks,
    ...(telemetry && { telemetry }),
    ...(onError && { onError }),
    ...(setup && { setup }),
  })
}

type Execute = (input: unknown, ctx: TaskContext) => unknown

const required = (id: string, execute: Execute) => createTool({ id, task: 'required', execute })

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`
const TRACED = { meta: { traceparent: PARENT } }

afterEach(() => {
  vi.useRealTimers()
  context.disable()
  propagation.disable()
})

describe('the span of a run', () => {
  it('is a trace of its own, linked to the span of the call [telemetry.tasks]', async () => {
    context.setGlobalContextManager(new Contexts())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    vi.useFakeTimers({ toFake: ['Date'] })
    const { telemetry, tracer, runs, calls, spans } = observe()
    const job = required('job', async (_input, ctx) => {
      await ctx.sleep('a minute', 60_000)
      return ctx.step('one', () => {
        tracer.startSpan('inside').end()
        return 'done'
      })
    })
    const client = clientOf(telemetry, { job })
    const { taskId } = await client.call('job', {}, TRACED)
    await client.settle()
    vi.setSystemTime(Date.now() + 60_000)
    await client.server.tasks.runDue()

    const [call] = calls()
    expect(call?.spanContext().traceId).toBe(TRACE)
    const both = runs()
    expect(both.map(({ name }) => name)).toEqual(['run job', 'run job'])
    for (const { kind, links, parentSpanContext } of both) {
      expect({ kind, parentSpanContext }).toEqual({ kind: SpanKind.CONSUMER, parentSpanContext: undefined })
      expect(links.map((link) => link.context)).toEqual([
        { traceId: TRACE, spanId: call!.spanContext().spanId, traceFlags: 1, isRemote: true },
      ])
    }
    const named = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'job',
      'mayfly.tasks.id': taskId,
    }
    expect(both.map(({ attributes }) => attributes)).toEqual([
      { ...named, 'mayfly.tasks.outcome': 'suspended' },
      { ...named, 'mayfly.tasks.outcome': 'completed' },
    ])
    expect(spans().find(({ name }) => name === 'inside')?.parentSpanContext?.spanId).toBe(
      both[1]!.spanContext().spanId,
    )
  })

  it('without a context manager, it is linked to the span of the client', async () => {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    const { telemetry, runs } = observe()
    const client = clientOf(telemetry, { job: required('job', () => 'done') })
    await client.call('job', {}, TRACED)
    await client.settle()
    expect(runs()[0]?.links.map((link) => link.context.spanId)).toEqual(['b7ad6b7169203331'])
  })

  it('of a task that an operator retries is linked to the same call', async () => {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    const { telemetry, runs } = observe()
    const job = required('job', () => Promise.reject(new ProtocolError(-32050, 'No')))
    const client = clientOf(telemetry, { job })
    const { taskId } = await client.call('job', {}, TRACED)
    await client.settle()
    await createTaskAdmin({ secret: secretOf('a') })
      .of(client.server)
      .retry(taskId)
    await client.server.tasks.runDue()
    const linked = runs().map(({ links }) => links.map((link) => link.context.spanId))
    expect(linked).toEqual([['b7ad6b7169203331'], ['b7ad6b7169203331']])
  })

  it('of a call that becomes a task while it runs, begins there', async () => {
    const { telemetry, runs } = observe()
    const slow = deferred<string>()
    const job = createTool({ id: 'job', task: { mode: 'auto', afterMs: 0 }, execute: () => slow.promise })
    const client = clientOf(telemetry, { job })
    const { taskId } = await client.call('job')
    expect(runs()).toEqual([])
    slow.resolve('done')
    await client.settle()
    expect(runs()[0]?.attributes).toMatchObject({
      'mayfly.tasks.id': taskId,
      'mayfly.tasks.outcome': 'completed',
    })
  })
})

describe('runs by outcome', () => {
  const ask = z.object({ ok: z.boolean() })
  it.each<[outcome: string, type: string | undefined, execute: Execute]>([
    ['completed', undefined, () => 'done'],
    ['completed', 'tool_error', () => Promise.reject(new Error('broken'))],
    ['failed', '-32050', () => Promise.reject(new ProtocolError(-32050, 'No'))],
    ['suspended', undefined, (_input, ctx) => ctx.waitFor('paid', { timeoutMs: 60_000 })],
    ['input_required', undefined, async (_input, ctx) => (await ctx.elicit('Sure?', ask)).action],
  ])('%s, with the error type %s', async (outcome, type, execute) => {
    const { telemetry, runs, series } = observe()
    const client = clientOf(telemetry, { job: required('job', execute) })
    await client.call('job')
    await client.settle()
    const attributes = {
      'gen_ai.tool.name': 'job',
      'mayfly.tasks.outcome': outcome,
      ...(type !== undefined && { 'error.type': type }),
    }
    expect(await series('mayfly.tasks.run.duration')).toEqual([{ attributes, value: 1 }])
    const status = type === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR
    expect(runs()[0]).toMatchObject({ attributes, status: { code: status } })
  })

  it('released if it cannot begin, lost if it is cancelled', async () => {
    const { telemetry, runs } = observe()
    let isDown = true
    const begun = deferred<void>()
    const job = required('job', () => {
      begun.resolve()
      return new Promise(() => {})
    })
    const client = clientOf(
      telemetry,
      { job },
      {
        onError: () => {},
        setup: (_server, request) => {
          // Runs get a request without headers.
          if (isDown && !request.headers.has('content-type')) throw new Error('the upstream is down')
        },
      },
    )
    const first = await client.call('job')
    await client.settle()
    isDown = false
    const second = await client.call('job')
    await begun.promise
    await client.cancel(second.taskId)
    await client.settle()
    expect(
      runs().map(({ attributes }) => [attributes['mayfly.tasks.id'], attributes['mayfly.tasks.outcome']]),
    ).toEqual([
      [first.taskId, 'released'],
      [second.taskId, 'lost'],
    ])
  })

  it('of a tool that the server does not have, without its name', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { telemetry, series, runs } = observe()
    const store = createMemoryTaskStore()
    const gone = required('gone', (_input, ctx) => ctx.sleep('long', 60_000))
    const earlier = clientOf(undefined, { gone }, { store })
    await earlier.call('gone')
    await earlier.settle()
    vi.setSystemTime(Date.now() + 60_000)
    await clientOf(telemetry, {}, { store, onError: () => {} }).server.tasks.runDue()
    expect(await series('mayfly.tasks.run.duration')).toEqual([
      { attributes: { 'mayfly.tasks.outcome': 'released', 'error.type': 'released' }, value: 1 },
    ])
    expect(runs()[0]?.name).toBe('run gone')
  })
})

it('a run that died is counted when another takes its task, once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { telemetry, series } = observe()
  const store = createMemoryTaskStore()
  const stuck = required('job', () => new Promise(() => {}))
  const dead = clientOf(undefined, { job: stuck }, { store })
  await dead.call('job')
  await vi.waitFor(async () => expect(await store.due(Date.now() + 60_000, 1)).toHaveLength(1))
  vi.setSystemTime(Date.now() + 31_000)

  const client = clientOf(telemetry, { job: required('job', () => 'done') }, { store })
  await client.server.tasks.runDue()
  await client.server.tasks.runDue()

  expect(await series('mayfly.tasks.crashes')).toEqual([
    { attributes: { 'gen_ai.tool.name': 'job' }, value: 1 },
  ])
  await dead.server.close()
})

describe('the queue', () => {
  const waiting = required('job', async (_input, ctx) => {
    await ctx.sleep('long', 60_000)
    return 'done'
  })
  const SERVER = { 'mayfly.server.id': 'shop' }

  /** Three tasks that have been due for 30, 20 and 10 seconds, and one that is not. */
  async function behind(telemetry: Telemetry, store = createMemoryTaskStore()) {
    vi.useFakeTimers({ toFake: ['Date'] })
    const client = clientOf(telemetry, { job: waiting }, { store })
    for (let n = 0; n < 3; n++) {
      await client.call('job')
      await client.settle()
      vi.setSystemTime(Date.now() + 10_000)
    }
    vi.setSystemTime(Date.now() + 60_000)
    await client.call('job')
    await client.settle()
    return client
  }

  it('is as long as tasks were due, and as old as the first of them; empty when none is [telemetry.tasks]', async () => {
    const { telemetry, series } = observe()
    const client = await behind(telemetry)
    await client.server.tasks.runDue({ limit: 1 })
    expect(await series('mayfly.tasks.queue.depth')).toEqual([{ attributes: SERVER, value: 3 }])
    expect(await series('mayfly.tasks.queue.age')).toEqual([{ attributes: SERVER, value: 30 }])

    await client.server.tasks.runDue()
    await client.server.tasks.runDue()
    expect(await series('mayfly.tasks.queue.depth')).toEqual([{ attributes: SERVER, value: 0 }])
    expect(await series('mayfly.tasks.queue.age')).toEqual([{ attributes: SERVER, value: 0 }])
  })

  it('with a deadline, it is counted too', async () => {
    const { telemetry, series } = observe()
    const client = await behind(telemetry)
    await client.server.tasks.runDue({ limit: 1, deadline: Date.now() + 60_000 })
    expect(await series('mayfly.tasks.queue.depth')).toEqual([{ attributes: SERVER, value: 0 }])
  })

  it('the store counts once in five seconds, and never while nothing is due, or without telemetry', async () => {
    const store = createMemoryTaskStore()
    const stats = vi.spyOn(store, 'stats' as never)
    const { telemetry } = observe()
    const client = await behind(telemetry, store)
    await client.server.tasks.runDue({ limit: 1 })
    await client.server.tasks.runDue({ limit: 1 })
    expect(stats).toHaveBeenCalledOnce()
    vi.setSystemTime(Date.now() + 5000)
    await client.server.tasks.runDue({ limit: 1 })
    expect(stats).toHaveBeenCalledTimes(2)
    vi.setSystemTime(Date.now() + 5000)
    await client.server.tasks.runDue()
    await clientOf(undefined, { job: waiting }, { store }).server.tasks.runDue()
    expect(stats).toHaveBeenCalledTimes(2)
  })

  it.each<[what: string, stats: TaskStore['stats']]>([
    ['rejects', () => Promise.reject(new Error('too slow'))],
    [
      'throws',
      () => {
        throw new Error('not here')
      },
    ],
    ['does not answer', () => new Promise(() => {})],
    ['is absent', undefined],
  ])('a count that %s → tasks run, and no value', async (what, stats) => {
    const { telemetry, series } = observe()
    const client = await behind(telemetry, { ...createMemoryTaskStore(), stats } as TaskStore)
    expect(await client.server.tasks.runDue({ limit: 5 }), what).toBe(3)
    expect(await series('mayfly.tasks.queue.depth')).toEqual([])
  })
})

describe('telemetry that fails', () => {
  const refuse = (): never => {
    throw new Error('telemetry is broken')
  }
  const start: Telemetry['start'] = () => ({ run: (work) => work(), end: () => {} })
  it.each<[what: string, tasks: object]>([
    [
      'throws at its start',
      { createdBy: refuse, startRun: refuse, recordCrash: refuse, recordQueue: refuse },
    ],
    ['rejects', { createdBy: async () => refuse(), startRun: async () => refuse() }],
    ['throws in the span', { startRun: () => ({ run: refuse, end: refuse }) }],
    ['never runs the work', { startRun: () => ({ run: () => new Promise(() => {}), end() {} }) }],
    [
      'runs the work twice',
      { startRun: () => ({ run: (work: () => unknown) => [work(), work()], end() {} }) },
    ],
    ['has no members', {}],
    ['returns no span', { startRun: () => undefined }],
    ['returns a long name', { createdBy: () => 'x'.repeat(1_000_000) }],
  ])('%s → the task runs once', async (_what, tasks) => {
    const work = vi.fn(() => 'done')
    const job = required('job', (_input, ctx) => ctx.step('one', work))
    const store = createMemoryTaskStore()
    const client = clientOf({ start, tasks } as Telemetry, { job }, { store, onError: () => {} })
    const { taskId } = await client.call('job')
    await client.settle()
    expect((await client.get(taskId)).status).toBe('completed')
    expect(work).toHaveBeenCalledOnce()
    expect((await store.read(taskId))!.state.length).toBeLessThan(2000)
    expect(await client.server.tasks.runDue()).toBe(0)
  })
})
