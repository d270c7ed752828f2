/** Two instances with one store, in races whose outcome the specification fixes. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { createEvent, type EventsOptions } from '../../../src/mcp-events.ts'
import { eventually } from '../../_eventually.ts'
import {
  createEventServer,
  isSigned,
  OTHER_SECRET,
  SECRET,
  URL_A,
  URL_B,
} from '../../unit/mcp-events/_events.ts'

const EVENTS = 10
/** Enough for a busy machine to begin a delivery before it is over. */
const TTL_MS = 5000

/** @param connect Two connections to a place of its own. */
export function raceScenarios(connect: () => Promise<readonly [KeyedStore, KeyedStore]>): void {
  /** Two processes that send to the same endpoints. */
  async function start(options: Partial<EventsOptions> = {}) {
    const [here, there] = await connect()
    const one = createEventServer(options, here)
    const two = createEventServer({ ...options, deliver: one.endpoints }, there)
    const runBoth = () => Promise.all([one.server.events.run(), two.server.events.run()])
    return { one, two, endpoints: one.endpoints, runBoth }
  }

  /** The first process is in the middle of a delivery, and two more events wait, until `goOn` is called. */
  async function startSending(options: Partial<EventsOptions>, params: { name?: string; ttlMs?: number }) {
    const both = await start(options)
    const { one, two, endpoints } = both
    const { name = 'incident.created' } = params
    expect((await one.subscribe(params)).result).toBeDefined()
    let goOn = (): void => {}
    const isOver = new Promise<void>((resolve) => (goOn = resolve))
    endpoints.answer = async () => {
      await isOver
      return { status: 200 }
    }
    const first = one.emit({ title: 'first' }, 'first', name)
    await eventually(() => expect(endpoints.received).toHaveLength(1))
    await Promise.all([
      two.emit({ title: 'second' }, 'second', name),
      two.emit({ title: 'third' }, 'third', name),
    ])
    return {
      ...both,
      /** Ends the delivery, and lets both look for more. Resolves with what was sent meanwhile. */
      async goOn() {
        const { length } = endpoints.received
        goOn()
        await first
        await both.runBoth()
        await Promise.all([one.emit({}, 'late', name), two.emit({}, 'later', name)])
        await both.runBoth()
        return endpoints.received.slice(length).map(({ body }) => body)
      },
    }
  }

  it('both emit and deliver at once → each event once and in order [events.races]', async () => {
    const { one, two, endpoints } = await start()
    const urls = [URL_A, URL_B, `${URL_B}/2`]
    for (const url of urls)
      expect((await one.subscribe({ arguments: { severity: 'P1' } }, 'alice', { url })).result).toBeDefined()
    await one.subscribe({ arguments: { severity: 'P2' } })

    for (let index = 0; index < EVENTS; index += 2)
      await Promise.all([one.emit({}, `e${index}`), two.emit({}, `e${index + 1}`)])
    await two.emit({}, 'e0')
    await eventually(async () => expect(await one.server.events.run()).toMatchObject({ nextDueAt: null }))
    expect(endpoints.received).toHaveLength(urls.length * EVENTS)
    for (const url of urls) {
      const own = endpoints.received.filter((post) => post.url === url)
      const numbers = own.map(({ body }) => Number(body.cursor.split('.')[1]))
      expect(numbers).toEqual(Array.from({ length: EVENTS }, (_none, index) => index + 1))
    }
    expect(one.errors).toEqual([])
  })

  it('unsubscribed while the other one delivers → nothing more, of events before or after it [events.races]', async () => {
    const { two, goOn } = await startSending({}, {})
    expect((await two.unsubscribe()).result).toBeDefined()
    expect(await goOn()).toEqual([])
  })

  it('revoked while the other one delivers → only that it has ended, once [events.races]', async () => {
    let isMember = true
    const room = createEvent({ id: 'room', description: 'A room', canSubscribe: () => isMember })
    const { two, goOn } = await startSending({ types: { room } }, { name: 'room' })
    isMember = false
    expect((await two.subscribe({ name: 'room' })).error).toMatchObject({ code: -32012 })
    expect(await goOn()).toMatchObject([{ type: 'terminated', error: { code: -32012 } }])
  })

  it('expired while the other one delivers → nothing more [events.races]', async () => {
    const { goOn } = await startSending({ minTtlMs: 1 }, { ttlMs: TTL_MS })
    await pause(TTL_MS)
    expect(await goOn()).toEqual([])
  })

  it('unsubscribed while its endpoint is verified → the late verification does not revive it [events.races]', async () => {
    const { one, two, endpoints, runBoth } = await start()
    const { verify } = endpoints
    endpoints.verify = async (received) => {
      expect((await two.unsubscribe()).result).toBeDefined()
      return verify(received)
    }
    expect((await one.subscribe()).error).toMatchObject({ code: -32011, data: { kind: 'subscription' } })
    await Promise.all([one.emit(), two.emit()])
    await runBoth()
    expect(endpoints.received).toEqual([])
  })

  it('a later request with another secret → the late verification does not overwrite it [events.races]', async () => {
    const { one, two, endpoints } = await start()
    const { verify } = endpoints
    endpoints.verify = async (received) => {
      endpoints.verify = verify
      expect((await two.subscribe({}, 'alice', { secret: OTHER_SECRET })).result).toBeDefined()
      return verify(received)
    }
    expect((await one.subscribe()).error).toMatchObject({ code: -32013 })
    await one.emit()
    expect(endpoints.received).toHaveLength(1)
    expect(await isSigned(endpoints.received[0]!, OTHER_SECRET)).toBe(true)
    expect(await isSigned(endpoints.received[0]!, SECRET)).toBe(false)
  })
}
