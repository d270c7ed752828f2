import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { subscribePersistently } from '../../src/events/persistent-subscription.ts'
import { type Bus, type ChangeEvent, createMemoryBus, createTool } from '../../src/index.ts'
import { createServer, modern, modernRequest, StreamReader, textOf } from './_client.ts'

type Listener = (event: ChangeEvent) => void

const CHANGE: ChangeEvent = { type: 'toolsListChanged' }

/** A bus that can go down: then it refuses, or never answers. */
function createShakyBus() {
  const listeners = new Set<Listener>()
  const bus = {
    state: 'up' as 'up' | 'refusing' | 'silent',
    attempts: 0,
    listeners,
    /** Lets what was never answered succeed after all. */
    late: [] as (() => void)[],
    async publish(event: ChangeEvent) {
      if (bus.state === 'refusing') throw new Error('The bus is down.')
      if (bus.state === 'silent') return new Promise<void>(() => {})
      for (const listener of listeners) listener(event)
    },
    async subscribe(listener: Listener) {
      bus.attempts++
      if (bus.state === 'refusing') throw new Error('The bus is down.')
      if (bus.state === 'silent') await new Promise<void>((resolve) => bus.late.push(resolve))
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return bus satisfies Bus
}

let logged: ReturnType<typeof vi.spyOn>
const rejected = vi.fn()
beforeEach(() => {
  vi.useFakeTimers()
  logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  rejected.mockClear()
  process.on('unhandledRejection', rejected)
})
afterEach(() => {
  vi.useRealTimers()
  logged.mockRestore()
  process.off('unhandledRejection', rejected)
})

describe('the memory bus', () => {
  it.each<[string, Listener]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', (async () => Promise.reject(new Error('broken'))) as Listener],
    [
      'throws what cannot become text',
      () => {
        throw Object.create(null)
      },
    ],
  ])(
    'a listener that %s keeps no other from hearing, and is reported [bus.listeners]',
    async (_how, broken) => {
      const bus = createMemoryBus()
      const heard = vi.fn()
      await bus.subscribe(broken)
      await bus.subscribe(heard)
      await bus.publish(CHANGE)
      expect(heard).toHaveBeenCalledExactlyOnceWith(CHANGE)
      await vi.advanceTimersByTimeAsync(0)
      expect(logged).toHaveBeenCalledOnce()
      expect(rejected).not.toHaveBeenCalled()
    },
  )

  it('the same listener twice hears twice, and each ends by itself', async () => {
    const bus = createMemoryBus()
    const heard = vi.fn()
    const [stop] = [await bus.subscribe(heard), await bus.subscribe(heard)]
    await bus.publish(CHANGE)
    expect(heard).toHaveBeenCalledTimes(2)
    stop()
    await bus.publish(CHANGE)
    expect(heard).toHaveBeenCalledTimes(3)
  })
})

describe('a bus that is down', () => {
  const touch = createTool({
    id: 'touch',
    execute: async () => {
      await server.resources.notifyUpdated({ uri: 'a://1' })
      return 'touched'
    },
  })
  let server = createServer()

  it.each(['refusing', 'silent'] as const)(
    '%s → a tool that publishes is answered, and the fault reported [bus.down]',
    async (state) => {
      const bus = Object.assign(createShakyBus(), { state })
      const onError = vi.fn()
      server = createServer({ bus, onError, tools: { touch } })
      const answer = modern(server, 'tools/call', { name: 'touch' })
      await vi.advanceTimersByTimeAsync(5000)
      expect(textOf(await answer)).toBe('touched')
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), { bus: true })
    },
  )

  it('an event that no bus carries is refused to its publisher, whatever the bus [bus.size]', async () => {
    const bus = createShakyBus()
    const uri = 'é'.repeat(500_000)
    for (const given of [{ bus }, {}])
      await expect(createServer(given).resources.notifyUpdated({ uri })).rejects.toThrow(
        'A change event of 1000035 bytes is not sent',
      )
    expect(logged).not.toHaveBeenCalled()
  })

  it('one that throws at once → the same [bus.down]', async () => {
    const publish = () => {
      throw new Error('not connected')
    }
    server = createServer({ bus: { publish, subscribe: () => () => {} }, tools: { touch } })
    expect(textOf(await modern(server, 'tools/call', { name: 'touch' }))).toBe('touched')
  })

  it('silent → a stream is refused in time, and what it asked for late is ended [bus.down]', async () => {
    const bus = Object.assign(createShakyBus(), { state: 'silent' as const })
    server = createServer({ bus, tools: { touch } })
    const answer = modern(server, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
    await vi.advanceTimersByTimeAsync(5000)
    expect((await answer).error).toMatchObject({ code: -32603 })
    for (const succeed of bus.late) succeed()
    await vi.advanceTimersByTimeAsync(0)
    expect(bus.listeners.size).toBe(0)
  })

  it('and up again → the next stream hears [bus.down]', async () => {
    const bus = createShakyBus()
    bus.state = 'refusing'
    server = createServer({ bus, tools: { touch } })
    const notifications = { toolsListChanged: true }
    expect((await modern(server, 'subscriptions/listen', { notifications })).status).toBe(503)
    bus.state = 'up'
    const stream = new StreamReader(
      await server.fetch(modernRequest('subscriptions/listen', { notifications })),
    )
    await stream.next()
    await server.tools.notifyListChanged()
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    await stream.cancel()
  })
})

describe('sessions', () => {
  const open = (bus?: Bus) => {
    const onError = vi.fn()
    const server = createServer({ ...(bus && { bus }), onError })
    const { join } = server.getSessionParts()
    return { server, onError, onChange: (listener: () => void) => subscribePersistently(join, listener) }
  }

  it('hear what is published without a bus; one that throws keeps no other from it [bus.listeners]', async () => {
    const { server, onChange } = open()
    const heard = vi.fn()
    onChange(() => {
      throw new Error('broken')
    })
    const stop = onChange(heard)
    await server.tools.notifyListChanged()
    expect(heard).toHaveBeenCalledExactlyOnceWith(CHANGE)
    stop()
    await server.tools.notifyListChanged()
    expect(heard).toHaveBeenCalledOnce()
  })

  it('share one subscription, which ends with the last of them [bus.sessions]', async () => {
    const bus = createShakyBus()
    const { server, onChange } = open(bus)
    const heard = [vi.fn(), vi.fn()]
    const stops = heard.map(onChange)
    await vi.advanceTimersByTimeAsync(0)
    expect(bus.listeners.size).toBe(1)
    await server.tools.notifyListChanged()
    for (const one of heard) expect(one).toHaveBeenCalledExactlyOnceWith(CHANGE)
    stops[0]!()
    stops[0]!()
    expect(bus.listeners.size).toBe(1)
    stops[1]!()
    expect(bus.listeners.size).toBe(0)
    onChange(heard[0]!)
    await vi.advanceTimersByTimeAsync(0)
    await server.tools.notifyListChanged()
    expect(heard[0]).toHaveBeenCalledTimes(2)
  })

  it.each(['refusing', 'silent'] as const)(
    'whose bus is %s → hear once it is back, with one report [bus.sessions]',
    async (state) => {
      const bus = Object.assign(createShakyBus(), { state: state as 'up' | typeof state })
      const { server, onError, onChange } = open(bus)
      const heard = vi.fn()
      for (let session = 0; session < 100; session++) onChange(heard)
      await vi.advanceTimersByTimeAsync(600_000)
      expect(onError).toHaveBeenCalledOnce()
      // Each wait is twice the last one, up to a minute.
      expect(bus.attempts).toBeGreaterThan(8)
      expect(bus.attempts).toBeLessThan(20)
      bus.state = 'up'
      await vi.advanceTimersByTimeAsync(66_000)
      await server.tools.notifyListChanged()
      expect(heard).toHaveBeenCalledTimes(100)
      for (const succeed of bus.late) succeed()
      await vi.advanceTimersByTimeAsync(0)
      expect(bus.listeners.size).toBe(1)
    },
  )

  it('a second outage is reported, too, of publishing and subscribing together [bus.sessions] [bus.down]', async () => {
    const bus = createShakyBus()
    const { server, onError, onChange } = open(bus)
    for (const outages of [1, 2]) {
      bus.state = 'refusing'
      onChange(() => {})()
      await vi.advanceTimersByTimeAsync(0)
      for (let call = 0; call < 100; call++) await server.tools.notifyListChanged()
      expect(onError).toHaveBeenCalledTimes(outages)
      bus.state = 'up'
      await server.tools.notifyListChanged()
    }
  })

  it('that have all ended → nothing is tried any more, and a late success is ended [bus.sessions]', async () => {
    const bus = createShakyBus()
    const { onChange } = open(bus)
    bus.state = 'refusing'
    const stop = onChange(() => {})
    await vi.advanceTimersByTimeAsync(0)
    stop()
    await vi.advanceTimersByTimeAsync(600_000)
    expect([bus.attempts, vi.getTimerCount()]).toEqual([1, 0])
    bus.state = 'silent'
    onChange(() => {})()
    for (const succeed of bus.late) succeed()
    await vi.advanceTimersByTimeAsync(0)
    expect(bus.listeners.size).toBe(0)
  })

  it('a bus that throws at once harms no session [bus.sessions]', async () => {
    const subscribe = () => {
      throw new Error('not connected')
    }
    const { onError, onChange } = open({ publish: () => {}, subscribe })
    expect(onChange(() => {})).toBeTypeOf('function')
    await vi.advanceTimersByTimeAsync(0)
    expect(onError).toHaveBeenCalledOnce()
  })
})
