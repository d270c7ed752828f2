/** `onSubscribe` and `onUnsubscribe` of `createEvent`: told once each, and again after a failure. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createEvent, createMemoryEvents } from '../../../src/mcp-events.ts'
import { createEventServer } from './_events.ts'
import { createListener, hookScenarios, runner, start } from './_hooks.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const fail = (): never => {
  throw new Error('the hook fails')
}

it('tells of a subscription and of its end, once each [events.hooks]', async () => {
  const listener = createListener()
  const { subscribe, unsubscribe, run, store } = start(listener)
  const { result } = await subscribe({ arguments: { severity: 'P1' } })
  await run()
  await subscribe({ arguments: { severity: 'P1' } })
  await run()
  expect(listener.told).toEqual(['begin'])
  expect(listener.signals[0]!.aborted).toBe(true)
  await unsubscribe({ arguments: { severity: 'P1' } })
  await unsubscribe({ arguments: { severity: 'P1' } })
  expect(await run()).toMatchObject({ nextDueAt: null })
  expect(listener.told).toEqual(['begin', 'end'])
  const auth = { clientId: 'alice', scopes: ['incidents:read'] }
  const info = {
    id: result!.id,
    name: 'incident.created',
    args: { severity: 'P1' },
    principal: '["alice",""]',
    auth,
  }
  expect(listener.infos).toEqual([info, info])
  const { keys } = await store.list({ prefix: '', limit: 100 })
  expect(keys.filter((key) => /^[^:]+:[nw]:/.test(key))).toEqual([])
})

it('what runs do for hooks leaves what is counted of challenges', async () => {
  const { subscribe, run } = start(createListener())
  const at = (path: string) => subscribe({}, 'alice', { url: `https://a.example.com/${path}` })
  for (let index = 0; index < 20; index++) {
    expect((await at(String(index))).error).toBeUndefined()
    await run()
  }
  expect((await at('more')).error).toMatchObject({
    code: -32013,
    data: { limit: 'verifications', max: 20 },
  })
})

it('tells in the invocation of the request', async () => {
  const listener = createListener()
  const { subscribe } = start(listener, { runner: { wake() {} } })
  await subscribe()
  await vi.waitFor(() => expect(listener.told).toEqual(['begin']))
})

it('tells of an expiry, when it is over; a refresh moves it', async () => {
  const listener = createListener()
  const { subscribe, run, later } = start(listener)
  await subscribe({ ttlMs: 600_000 })
  const { nextDueAt } = await run()
  expect(nextDueAt).toBe(Date.now() + 600_000)
  vi.setSystemTime(Date.now() + 500_000)
  await subscribe({ ttlMs: 600_000 })
  await later(200_000)
  expect(listener.told).toEqual(['begin'])
  await later(400_001)
  await later(1100)
  expect(listener.told).toEqual(['begin', 'end'])
})

it('tells of an end by canSubscribe', async () => {
  let isMember = true
  const listener = createListener()
  const types = { type: listener.type({ canSubscribe: () => isMember }) }
  const { subscribe, run, emit } = start(listener, { types })
  await subscribe()
  await run()
  isMember = false
  await emit()
  await run()
  expect(listener.told).toEqual(['begin', 'end'])
})

it('subscribed again before anyone was told of the end → nothing', async () => {
  const listener = createListener()
  const { subscribe, unsubscribe, run } = start(listener)
  await subscribe()
  await run()
  await unsubscribe()
  await subscribe()
  await run()
  expect(listener.told).toEqual(['begin'])
  await unsubscribe()
  await run()
  expect(listener.told).toEqual(['begin', 'end'])
})

it('subscribed again while the end fails → the end, then the beginning', async () => {
  const listener = createListener()
  const { subscribe, unsubscribe, run, later } = start(listener)
  await subscribe()
  await run()
  listener.answer = fail
  await unsubscribe()
  await run()
  await subscribe()
  await run()
  expect(listener.told).toEqual(['begin', 'end'])
  listener.answer = () => undefined
  await later(6000)
  expect(listener.told).toEqual(['begin', 'end', 'end', 'begin'])
})

it('a hook that fails is tried again with longer pauses, and stops no delivery', async () => {
  const listener = createListener()
  listener.answer = fail
  const { subscribe, emit, endpoints, errors, run, later } = start(listener)
  await subscribe()
  await run()
  await emit()
  await run()
  expect(endpoints.received).toHaveLength(1)
  expect(listener.told).toHaveLength(1)
  await later(4000)
  expect(listener.told).toHaveLength(1)
  await later(1100)
  expect(listener.told).toHaveLength(2)
  await later(9000)
  expect(listener.told).toHaveLength(2)
  await later(1100)
  expect(listener.told).toHaveLength(3)
  expect(errors).toHaveLength(3)
})

it('the end is tried for a day', async () => {
  const listener = createListener()
  const { subscribe, unsubscribe, run, later, errors } = start(listener)
  await subscribe()
  await run()
  listener.answer = fail
  await unsubscribe()
  await run()
  for (let hours = 0; hours < 26; hours++) await later(3_600_001)
  const { length } = listener.told
  expect(await later(86_400_000)).toMatchObject({ nextDueAt: null })
  expect(listener.told).toHaveLength(length)
  expect(String(errors.at(-1))).toContain('not called again')
})

it('a subscription that ended before anyone was told is not told', async () => {
  const listener = createListener()
  const { subscribe, unsubscribe, run } = start(listener)
  await subscribe()
  await unsubscribe()
  expect(await run()).toMatchObject({ nextDueAt: null })
  expect(listener.told).toEqual([])
})

it('a hook that never answers ends after 10 seconds, while others are told', async () => {
  const listener = createListener()
  const { subscribe, run, errors } = start(listener)
  await subscribe()
  await subscribe({}, 'bob')
  const now = Date.now()
  vi.useRealTimers()
  vi.useFakeTimers({ now })
  listener.answer = () => (listener.told.length === 1 ? new Promise(() => {}) : undefined)
  const running = run()
  await vi.waitFor(() => expect(listener.told).toEqual(['begin', 'begin']))
  expect(listener.signals[0]!.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(10_100)
  await running
  expect(errors).toMatchObject([{ name: 'TimeoutError' }])
  expect(listener.signals[0]!.aborted).toBe(true)
})

it('a subscription from before the event had hooks is told with its refresh', async () => {
  const before = createEventServer({ runner })
  await before.subscribe()
  const listener = createListener()
  const { subscribe, run } = start(listener, {}, before.store)
  await subscribe()
  await run()
  expect(listener.told).toEqual(['begin'])
})

it('a version of the server without the event leaves it to another', async () => {
  const listener = createListener()
  const { subscribe, run, store, later } = start(listener)
  await subscribe()
  const other = createListener()
  const unknown = createEvent({ id: 'other', description: 'Other', onSubscribe: () => other.told.push('x') })
  await createEventServer({ types: { unknown }, runner }, store).server.events.run()
  await run()
  expect(listener.told).toEqual([])
  await later(600_001)
  expect(listener.told).toEqual(['begin'])
  expect(other.told).toEqual([])
})

describe('in memory', () => hookScenarios(async () => createMemoryEvents(), 1))
