/** Who comes and goes on the channels of one client, with a real Redis and both client libraries. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redisBus, redisRendezvous } from '../../../adapters/redis.ts'
import type { ChangeEvent } from '../../../src/index.ts'
import { eventually } from '../../_eventually.ts'
import { type Connected, connect, type Instance, startInstance } from './_redis.ts'

const CHANGE: ChangeEvent = { type: 'toolsListChanged' }
const NEVER = new AbortController().signal

describe.each(['redis', 'ioredis'] as const)('%s', (library) => {
  let redis: Instance
  let clients: Connected
  beforeEach(async () => {
    redis = await startInstance()
    clients = await connect(library, redis.url)
  })
  afterEach(async () => {
    clients.close()
    await redis.stop()
  })

  it('a listener that comes while the last one leaves is told of changes, and so is the next', async () => {
    const bus = redisBus({ ...clients.channels, prefix: 'mayfly' })
    for (let round = 0; round < 5; round++) {
      const heard = [0, 0, 0]
      const listen = (index: number) => bus.subscribe(() => void heard[index]!++)
      const leave = await listen(0)
      leave()
      const leaveSecond = await listen(1)
      const leaveThird = await listen(2)
      await bus.publish(CHANGE)
      await eventually(() => expect(heard).toEqual([0, 1, 1]))
      leaveSecond()
      leaveThird()
    }
    await eventually(async () => expect(await redis.channels()).toEqual([]))
  })

  it('of two buses over one client the one that stays is told of changes', async () => {
    const [one, other] = [
      redisBus({ ...clients.channels, prefix: 'mayfly' }),
      redisBus({ ...clients.channels, prefix: 'mayfly' }),
    ]
    let heard = 0
    const leave = await one.subscribe(() => {})
    await other.subscribe(() => void heard++)
    leave()
    await other.publish(CHANGE)
    await eventually(() => expect(heard).toBe(1))
  })

  it('two that wait for one answer both get it, and one that gives up takes it from nobody', async () => {
    const meeting = redisRendezvous(clients.channels)
    const call = new AbortController()
    const given = await meeting.wait('key', Date.now() + 60_000, call.signal)
    const [one, other] = [
      await meeting.wait('key', Date.now() + 60_000, NEVER),
      await meeting.wait('key', Date.now() + 60_000, NEVER),
    ]
    call.abort()
    expect(await given.answer).toBeUndefined()
    await meeting.deliver('key', 'yes')
    expect(await Promise.all([one.answer, other.answer])).toEqual(['yes', 'yes'])
    await eventually(async () => expect(await redis.channels()).toEqual([]))
  })

  it('a deadline in a year is waited for', async () => {
    const meeting = redisRendezvous(clients.channels)
    const { answer } = await meeting.wait('key', Date.now() + 366 * 86_400_000, NEVER)
    await meeting.deliver('key', 'yes')
    expect(await answer).toBe('yes')
  })
})
