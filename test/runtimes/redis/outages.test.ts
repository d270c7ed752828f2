/** What is built on Redis, while Redis is killed, frozen, started again, or full of what is not ours; with both client libraries. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { redisBus, redisRateLimiter, redisRendezvous } from '../../../adapters/redis.ts'
import type { ChangeEvent } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { type Connected, connect, type Instance, startInstance } from './_redis.ts'

const CHANGE: ChangeEvent = { type: 'toolsListChanged' }
const NEVER = new AbortController().signal

describe.each(['redis', 'ioredis'] as const)('%s', (library) => {
  let redis: Instance
  let clients: Connected
  const onError = vi.fn()

  beforeEach(async () => {
    redis = await startInstance()
    clients = await connect(library, redis.url)
    onError.mockClear()
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
  })
  afterEach(async () => {
    clients.close()
    await redis.stop()
    vi.restoreAllMocks()
  })

  const rendezvous = () => redisRendezvous({ ...clients.channels, timeoutMs: 300, onError })
  const bus = () => redisBus({ ...clients.channels, prefix: 'mayfly', timeoutMs: 300, onError })
  const limiter = () => {
    // Beside a bus, as in most servers: a client that nothing of ours is given is not ours to watch.
    bus()
    return redisRateLimiter({
      client: clients.counter,
      calls: 2,
      windowMs: 3_600_000,
      timeoutMs: 300,
      onError,
    })
  }

  const outages = {
    killed: () => redis.kill(),
    frozen: async () => redis.freeze(),
  }
  const recover = { killed: () => redis.start(), frozen: async () => redis.thaw() }

  /** Milliseconds until it settles, and how. */
  const settle = async (work: Promise<unknown> | unknown) => {
    const startedAt = performance.now()
    const outcome = await Promise.resolve(work).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    return { ...outcome, ms: performance.now() - startedAt }
  }

  describe.each(['killed', 'frozen'] as const)('%s', (outage) => {
    it('a wait ends at its deadline, and when it is aborted [redis.wait]', async () => {
      const { wait } = rendezvous()
      await outages[outage]()
      const late = await settle(wait('a', Date.now() + 500, NEVER).then(({ answer }) => answer))
      expect(late).toMatchObject({ value: undefined })
      expect(late.ms).toBeLessThan(2000)
      const call = new AbortController()
      const aborted = settle(wait('b', Date.now() + 60_000, call.signal).then(({ answer }) => answer))
      call.abort()
      expect((await aborted).ms).toBeLessThan(2000)
    })

    it('a wait that was given up leaves no channel behind once Redis is back [redis.wait]', async () => {
      const meeting = rendezvous()
      const { answer } = await meeting.wait('before', Date.now() + 500, NEVER)
      await outages[outage]()
      await (await meeting.wait('during', Date.now() + 500, NEVER)).answer
      await answer
      await recover[outage]()
      // Everything that was queued before this is done with.
      await eventually(async () => expect(await meets(meeting, 'after')).toBe('yes'))
      await eventually(async () => expect(await redis.channels()).toEqual([]))
    })

    it('an answer is refused in time; once Redis is back it arrives [redis.down]', async () => {
      const meeting = rendezvous()
      await outages[outage]()
      const refused = await settle(meeting.deliver('a', 'lost'))
      expect(refused).toMatchObject({ error: expect.any(Error) })
      expect(refused.ms).toBeLessThan(2000)
      await recover[outage]()
      await eventually(async () => expect(await meets(meeting, 'b')).toBe('yes'))
    })

    it('the limiter fails in time, the calls after it at once, and counts again [redis.down]', async () => {
      const { limit } = limiter()
      expect(await limit('ann')).toEqual({ ok: true })
      await outages[outage]()
      const first = await settle(limit('ann'))
      expect(first).toMatchObject({ error: expect.any(Error) })
      expect(first.ms).toBeLessThan(2000)
      // Measured by a timer, which is late where this process is: a clock would count that against the calls.
      const late = new Promise<string>((resolve) => setTimeout(resolve, 250, 'late'))
      const others = Array.from({ length: 100 }, () =>
        Promise.race([
          Promise.resolve(limit('ann')).then(
            () => 'counted',
            () => 'failed',
          ),
          late,
        ]),
      )
      const outcomes = await Promise.all(others)
      expect(outcomes.filter((outcome) => outcome === 'failed').length).toBeGreaterThan(90)
      await recover[outage]()
      await eventually(async () => expect(await limit('bob')).toMatchObject({ ok: true }))
    })

    it('publishing fails in time; a listener that could not subscribe deafens no later one [redis.bus]', async () => {
      const changes = bus()
      await outages[outage]()
      expect(await settle(changes.publish(CHANGE))).toMatchObject({ error: expect.any(Error) })
      const refused = await settle(changes.subscribe(() => {}))
      expect(refused).toMatchObject({ error: expect.any(Error) })
      expect(refused.ms).toBeLessThan(2000)
      await recover[outage]()
      const heard = vi.fn()
      const stop = await eventually(() => changes.subscribe(heard))
      await eventually(async () => {
        await changes.publish(CHANGE)
        expect(heard).toHaveBeenCalledWith(CHANGE)
      })
      stop()
      await eventually(async () => expect(await redis.channels()).toEqual([]))
    })
  })

  it('a lost connection ends no process, is reported once, and a listener hears again afterwards [redis.bus]', async () => {
    const changes = bus()
    const heard = vi.fn()
    await changes.subscribe(heard)
    await redis.kill()
    await eventually(() => expect(onError).toHaveBeenCalled())
    await new Promise((resolve) => setTimeout(resolve, 1000))
    // One for each of the two clients, however often they try.
    expect(onError.mock.calls.length).toBeLessThanOrEqual(2)
    await redis.start()
    await eventually(async () => {
      await changes.publish(CHANGE)
      expect(heard).toHaveBeenCalledWith(CHANGE)
    })
  })

  it('a wait outlives a restart: what is delivered afterwards arrives [redis.wait]', async () => {
    const meeting = rendezvous()
    const { answer } = await meeting.wait('a', Date.now() + 20_000, NEVER)
    await redis.kill()
    await redis.start()
    await eventually(async () => expect(await redis.channels()).toHaveLength(1))
    await eventually(() => meeting.deliver('a', { action: 'accept' }))
    expect(await answer).toEqual({ action: 'accept' })
  })

  it('an aborted or late wait subscribes to nothing [redis.wait]', async () => {
    const meeting = rendezvous()
    for (const [deadline, signal] of [
      [Date.now() + 60_000, AbortSignal.abort()],
      [Date.now() - 1, NEVER],
    ] as const) {
      expect(await (await meeting.wait('a', deadline, signal)).answer).toBeUndefined()
    }
    expect(await meets(meeting, 'b')).toBe('yes')
    await eventually(async () => expect(await redis.channels()).toEqual([]))
  })

  it('a wait that has its answer, or ends, is subscribed no longer [redis.wait]', async () => {
    const meeting = rendezvous()
    const call = new AbortController()
    const { answer } = await meeting.wait('a', Date.now() + 60_000, call.signal)
    const { answer: late } = await meeting.wait('b', Date.now() + 1500, NEVER)
    expect(await redis.channels()).toHaveLength(2)
    call.abort()
    expect(await Promise.all([answer, late])).toEqual([undefined, undefined])
    expect(await meets(meeting, 'c')).toBe('yes')
    await eventually(async () => expect(await redis.channels()).toEqual([]))
  })

  it.each([
    'no JSON',
    '',
    '{"type":',
    '"toolsListChanged"',
    'null',
    '{"type":"unknown"}',
    '{"type":"resourceUpdated"}',
  ])('the text %j on our channels → dropped, and what follows arrives [redis.foreign]', async (text) => {
    const [meeting, changes, heard] = [rendezvous(), bus(), vi.fn()]
    await changes.subscribe(heard)
    const { answer } = await meeting.wait('a', Date.now() + 10_000, NEVER)
    await redis.command('PUBLISH', 'mayfly:changes', text)
    const isJson = text.endsWith('}') || text.endsWith('"') || text === 'null'
    if (!isJson) await redis.command('PUBLISH', 'mayfly:answer:a', text)
    await changes.publish(CHANGE)
    await meeting.deliver('a', 'yes')
    expect(await answer).toBe('yes')
    await eventually(() => expect(heard).toHaveBeenCalledExactlyOnceWith(CHANGE))
  })

  it('a listener that throws keeps no other from hearing [redis.bus]', async () => {
    const changes = bus()
    const heard = vi.fn()
    await changes.subscribe(() => {
      throw new Error('broken')
    })
    await changes.subscribe(heard)
    await changes.publish(CHANGE)
    await eventually(() => expect(heard).toHaveBeenCalledExactlyOnceWith(CHANGE))
  })

  it('every count expires, one that was left without an end as well [redis.limiter]', async () => {
    const { limit } = limiter()
    await limit('ann')
    const [key] = (await redis.command('KEYS', '*')) as [string]
    const life = async () => (await redis.command('PTTL', key)) as number
    expect(await life()).toBeGreaterThan(0)
    await redis.command('PERSIST', key)
    expect(await limit('ann')).toEqual({ ok: true })
    expect(await life()).toBeGreaterThan(0)
    expect(await limit('ann')).toMatchObject({ ok: false, retryAfterSeconds: expect.any(Number) })
    // Counting and expiring are one command: a process that ends in between leaves nothing half done.
    expect(await redis.command('INFO', 'commandstats')).toMatch(/cmdstat_eval\w*:calls=3,/)
  })

  it.each([
    { calls: 0, windowMs: 1 },
    { calls: 1, windowMs: 0 },
    { calls: Number.NaN, windowMs: 1 },
  ])('a limiter of %j → TypeError [redis.limiter]', (numbers) => {
    expect(() => redisRateLimiter({ client: clients.counter, ...numbers })).toThrow(TypeError)
  })
})

/** Whether an answer meets its call. */
async function meets(meeting: ReturnType<typeof redisRendezvous>, key: string): Promise<unknown> {
  const { answer } = await meeting.wait(key, Date.now() + 2000, NEVER)
  await meeting.deliver(key, 'yes')
  return answer
}
