/** Instances whose clocks differ: nobody loses a connection by it. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { UpstreamRefusedError } from '../../../src/sign-in/upstream/upstream.ts'
import {
  connected,
  createWorld,
  fakeUpstream,
  personOf,
  refresh,
  type Tokens,
} from '../../unit/sign-in/_sign-in.ts'

const MINUTES_MS = 60_000

export function clockScenarios(connectTwo: () => Promise<[KeyedStore, KeyedStore]>): void {
  describe('clocks', () => {
    afterEach(() => vi.useRealTimers())

    /** A machine whose clock differs from now on, by so much from the true one. It runs on. */
    const skew = (ms: number): void => {
      vi.useRealTimers()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms, shouldAdvanceTime: true })
    }

    it.each([5 * MINUTES_MS, -5 * MINUTES_MS])('a machine that is %d ms ahead learns it', async (ms) => {
      const [store] = await connectTwo()
      if (store.clockOffsetMs === undefined) return
      skew(ms)
      expect(Math.abs((await store.clockOffsetMs()) + ms)).toBeLessThan(2000)
    })

    it.each([5 * MINUTES_MS, -MINUTES_MS, -5 * MINUTES_MS])(
      'a machine that is %d ms ahead: the same refresh token gets the same answer, and the connection lasts',
      async (ms) => {
        const [store] = await connectTwo()
        if (store.clockOffsetMs === undefined) return
        skew(ms)
        const world = createWorld({ store })
        const { clientId, tokens } = await connected(world)
        const answers = [
          await refresh(world, tokens.refresh_token, clientId),
          await refresh(world, tokens.refresh_token, clientId),
        ]
        expect(answers.map(({ status }) => status)).toEqual([200, 200])
        const [first, second] = (await Promise.all(answers.map((answer) => answer.json()))) as Tokens[]
        expect(second).toEqual(first)
        expect((await refresh(world, first!.refresh_token, clientId)).status).toBe(200)
      },
    )

    it.each([
      [0, 5 * MINUTES_MS],
      [-5 * MINUTES_MS, 0],
      [5 * MINUTES_MS, -5 * MINUTES_MS],
    ])('machines %d and %d ms ahead: the provider’s token is refreshed once', async (first, second) => {
      const [here, there] = await connectTwo()
      if (here.clockOffsetMs === undefined) return
      const upstream = fakeUpstream()
      upstream.expiresIn = 1000
      let answer = (): void => {}
      const answered = new Promise<void>((resolve) => (answer = resolve))
      upstream.refreshWith = async (refreshToken) => {
        if (upstream.refreshed.length > 1) throw new UpstreamRefusedError('used twice')
        await answered
        return { accessToken: 'fresh', refreshToken: `${refreshToken}+`, expiresAt: Date.now() + 3_600_000 }
      }
      skew(first)
      const world = createWorld({ store: here, upstream })
      const { clientId, tokens } = await connected(world)
      const { extra } = await personOf(world, tokens.access_token)
      const one = world.signIn.upstreamToken(extra.sub, extra.connection, world.context)
      await vi.waitFor(() => expect(upstream.refreshed).toHaveLength(1), 5000)
      skew(second)
      const other = createWorld({ store: there, upstream })
      const two = other.signIn.upstreamToken(extra.sub, extra.connection, other.context)
      await new Promise((resolve) => setTimeout(resolve, 500))
      answer()
      expect(await two).toBe('fresh')
      skew(first)
      expect(await one).toBe('fresh')
      expect(upstream.refreshed).toHaveLength(1)
      skew(second)
      expect((await refresh(other, tokens.refresh_token, clientId)).status).toBe(200)
    })
  })
}
