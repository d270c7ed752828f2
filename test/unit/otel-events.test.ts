/** Deliveries of events to webhooks, and the subscriptions that wait for one, as OpenTelemetry's own SDK exports them. */
import type { Histogram } from '@opentelemetry/sdk-metrics'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryEvents, type PostOutcome } from '../../src/mcp-events.ts'
import { type EventTelemetry, openTelemetry, type Telemetry } from '../../src/otel.ts'
import { observeMetrics } from './_metrics.ts'
import { createEventServer, URL_B } from './mcp-events/_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const later = (ms: number): unknown => vi.setSystemTime(Date.now() + ms)

async function observe(options: Parameters<typeof createEventServer>[0] = {}) {
  const { meter, pointsOf } = observeMetrics()
  const events = createEventServer(options, createMemoryEvents(), { telemetry: openTelemetry({ meter }) })
  await events.subscribe({ ttlMs: 86_400_000 })
  return {
    ...events,
    /** Each time series of a metric of events: its attributes and its value, of a histogram how often and the sum. */
    async series(metric: string) {
      const points = await pointsOf(`mayfly.events.${metric}`)
      return points.map(({ attributes, value }) => {
        const { count, sum } = value as Histogram
        return { attributes, value: typeof value === 'number' ? value : [count, sum] }
      })
    },
  }
}

const name = { 'mayfly.events.name': 'incident.created' }
const server = { 'mayfly.server.id': 'test' }

it('measures each request, and of what was taken its age and the requests it needed', async () => {
  const events = await observe()
  events.endpoints.answer = () => {
    later(2000)
    return { status: 503 }
  }
  await events.emit()
  later(20_000)
  events.endpoints.answer = () => {
    later(500)
    return { status: 200 }
  }
  await events.server.events.run()
  expect(await events.series('delivery.duration')).toEqual([
    { attributes: { ...name, 'error.type': 'http_5xx' }, value: [1, 2] },
    { attributes: name, value: [1, 0.5] },
  ])
  expect(await events.series('delivery.age')).toEqual([{ attributes: name, value: [1, 22.5] }])
  expect(await events.series('delivery.requests')).toEqual([{ attributes: name, value: [1, 2] }])
  expect(await events.series('given_up')).toEqual([])
})

it.each([
  ['timeout', { failure: 'timeout' }],
  ['tls_error', { failure: 'tls' }],
  ['connection_refused', { failure: 'address' }],
  ['http_4xx', { status: 404 }],
  ['http_5xx', { status: 500 }],
] as const)('names why a request failed as its client learns it: %s', async (error, outcome: PostOutcome) => {
  const events = await observe()
  events.endpoints.answer = () => outcome
  await events.emit()
  expect(await events.series('delivery.duration')).toEqual([
    { attributes: { ...name, 'error.type': error }, value: [1, 0] },
  ])
  expect(await events.series('delivery.age')).toEqual([])
})

it('counts what was given up, by its reason', async () => {
  const events = await observe({ retentionMs: 600_000 })
  events.endpoints.answer = () => ({ status: 413 })
  await events.emit()
  events.endpoints.answer = () => ({ status: 500 })
  await events.emit()
  await events.emit()
  later(700_000)
  await events.server.events.run()
  expect(await events.series('given_up')).toEqual([
    { attributes: { ...name, 'mayfly.events.reason': 'refused' }, value: 1 },
    { attributes: { ...name, 'mayfly.events.reason': 'expired' }, value: 2 },
  ])
})

it('counts with each run the subscriptions that wait, and for how long the first has', async () => {
  const events = await observe()
  await events.subscribe({ ttlMs: 86_400_000 }, 'alice', { url: URL_B })
  events.endpoints.answer = () => ({ status: 500, retryAfterMs: 60_000 })
  await events.emit()
  later(10_000)
  await events.server.events.run()
  expect(await events.series('queue.depth')).toEqual([{ attributes: server, value: 0 }])
  expect(await events.series('queue.age')).toEqual([{ attributes: server, value: 0 }])
  later(80_000)
  await events.server.events.run()
  expect(await events.series('queue.depth')).toEqual([{ attributes: server, value: 2 }])
  const [age] = await events.series('queue.age')
  expect(age!.value).toBe(30)
})

it('reads no queue for telemetry without it', async () => {
  const telemetry = { ...openTelemetry(), events: {} }
  const read = async (given: { telemetry?: Telemetry }): Promise<number> => {
    const store = createMemoryEvents()
    const { server } = createEventServer({}, store, given)
    const list = vi.spyOn(store, 'list')
    await server.events.run()
    return list.mock.calls.length
  }
  expect(await read({ telemetry })).toBe(await read({}))
})

it.each(['recordDelivery', 'recordGivenUp', 'recordQueue'] as const)(
  'an error of %s is reported, and changes nothing',
  async (record) => {
    const failing: EventTelemetry = {
      [record]() {
        throw new Error(`from ${record}`)
      },
    }
    const telemetry = { ...openTelemetry(), events: failing }
    const events = createEventServer({}, createMemoryEvents(), { telemetry })
    await events.subscribe()
    events.endpoints.answer = ({ body }) => ({ status: body.data.title === 'A' ? 413 : 200 })
    await events.emit({ title: 'A' })
    await events.emit({ title: 'B' })
    expect(events.titles()).toEqual(['A', 'B'])
    expect(new Set(events.errors.map(String))).toEqual(new Set([`Error: from ${record}`]))
  },
)
