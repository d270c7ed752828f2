/** What many callers share: the requests that a host gets, and the places of a server. Nobody takes more than a share of them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createMemoryEvents, type EventsOptions } from '../../../src/mcp-events.ts'
import { modern } from '../_client.ts'
import { createEventServer, SECRET, URL_B } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

/** A server whose callers are whoever they say they are. */
function createCrowd(options: Partial<EventsOptions> = {}, store?: KeyedStore) {
  const auth = bearer((name) => ({ clientId: name, scopes: ['incidents:read'] }))
  const events = createEventServer(options, store, { auth })
  const subscribeAs = (name: string, url: string, params: object = {}) =>
    modern(
      events.server,
      'events/subscribe',
      { name: 'incident.created', ...params, delivery: { mode: 'webhook', url, secret: SECRET } },
      { headers: { authorization: `Bearer ${name}` } },
    )
  return { ...events, subscribeAs }
}

describe('nobody uses up what a host may be asked', () => {
  const HOST = 'https://hooks.example.com'
  /** How many challenges each of them gets, who asks for 20. */
  async function flood(names: readonly string[], subscribeAs: ReturnType<typeof createCrowd>['subscribeAs']) {
    const counts: number[] = []
    for (const name of names) {
      let count = 0
      while (count < 20 && (await subscribeAs(name, `${HOST}/${name}/${count}`)).error === undefined) count++
      counts.push(count)
    }
    return counts
  }
  const named = (count: number) => Array.from({ length: count }, (_none, index) => `flooder-${index}`)

  it('six principals leave one for each that comes later, up to the limit of the host', async () => {
    const { subscribeAs, endpoints } = createCrowd()
    const [alone, ...others] = await flood(named(6), subscribeAs)
    expect(alone).toBe(20)
    expect(others).toEqual(others.toSorted((a, b) => b - a))
    expect(others.at(-1)).toBeGreaterThan(1)
    for (let count = 0; count < 40; count++)
      expect((await subscribeAs(`user-${count}`, `${HOST}/${count}`)).error).toBeUndefined()
    expect((await subscribeAs('flooder-5', `${HOST}/more`)).error).toMatchObject({
      code: -32013,
      data: { limit: 'verifications', max: others.at(-1) },
    })
    // Never more than 120 in a minute, however many they are.
    await flood(
      Array.from({ length: 40 }, (_none, index) => `late-${index}`),
      subscribeAs,
    )
    expect(endpoints.verifications).toHaveLength(120)
    expect((await subscribeAs('last', `${HOST}/last`)).error).toMatchObject({
      code: -32013,
      data: { limit: 'verifications', max: 120 },
    })
    vi.setSystemTime(Date.now() + 60_000)
    expect((await subscribeAs('last', `${HOST}/last`)).error).toBeUndefined()
  })

  it('with no more requests to the store, whose entries stay small', async () => {
    const store = createMemoryEvents()
    const { subscribeAs } = createCrowd({}, store)
    const read = vi.spyOn(store, 'read')
    const commit = vi.spyOn(store, 'commit')
    const costOf = async (name: string) => {
      read.mockClear()
      commit.mockClear()
      await subscribeAs(name, `${HOST}/${name}`)
      return [read.mock.calls.length, commit.mock.calls.length]
    }
    const first = await costOf('first')
    await flood(named(50), subscribeAs)
    expect(await costOf('later')).toEqual(first)
    const { keys } = await store.list({ prefix: '', limit: 1000 })
    const key = keys.find((one) => one.includes(':v:') && one.includes(':h:'))!
    expect((await store.read(key))!.value.length).toBeLessThan(2000)
  })
})

describe('the places of all', () => {
  it('in one part of them are not used up by whoever chooses ids that are counted there', async () => {
    const store = createMemoryEvents()
    const { subscribe, unsubscribe } = createEventServer({ maxTotalSubscriptions: 1600 }, store)
    const id = String((await subscribe()).result!.id)
    const { keys } = await store.list({ prefix: '', limit: 100 })
    const counted = keys.find((key) => key.endsWith(`:a:${id}`))!
    await unsubscribe()
    const fill = async (digit: string) => {
      const prefix = counted.replace(id, `sub_${digit}`)
      for (let first = 0; first < 100; first += 20)
        await store.commit(
          `${digit}-${first}`,
          Array.from({ length: 20 }, (_none, index) => ({ key: `${prefix}${first + index}`, value: '1' })),
        )
    }
    await fill(id[4]!)
    expect((await subscribe()).error).toBeUndefined()
    await unsubscribe()
    for (const digit of '0123456789abcdef') await fill(digit)
    expect((await subscribe()).error).toMatchObject({ code: -32013, data: { max: 1600 } })
  })
})

describe('the dead letters of all', () => {
  it('are not pushed out by those of one principal, under however many ids', async () => {
    const { subscribe, unsubscribe, emit, endpoints, store } = createEventServer()
    endpoints.answer = () => ({ status: 413 })
    await subscribe({}, 'bob', { url: URL_B })
    await emit()
    await unsubscribe({}, 'bob', URL_B)
    vi.setSystemTime(Date.now() + 1)
    await subscribe()
    await emit()
    const { keys } = await store.list({ prefix: '', limit: 1000 })
    const [ofBob, own] = keys.filter((key) => key.includes(':l:'))
    const { value } = (await store.read(own!))!
    const forged = Array.from({ length: 600 }, (_none, index) => ({
      key: own!.replace(/sub_.{6}/, `sub_${String(index).padStart(6, '0')}`),
      value,
    }))
    for (let first = 0; first < forged.length; first += 25)
      await store.commit(`v${first}`, forged.slice(first, first + 25))
    vi.setSystemTime(Date.now() + 1)
    await emit()
    const tag = own!.slice(0, own!.indexOf(':l:'))
    const letters = (await store.list({ prefix: `${tag}:l:`, limit: 1000 })).keys
    expect(letters).toHaveLength(501)
    expect(letters).toContain(ofBob)
  })
})
