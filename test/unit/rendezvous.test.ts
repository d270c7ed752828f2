import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createMemoryRendezvous } from '../../src/index.ts'
import { eventually } from '../_eventually.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

it.each([
  ['was aborted before it began', AbortSignal.abort.bind(AbortSignal), 60_000],
  ['has ended', () => new AbortController().signal, 10],
] as const)(
  'a wait in memory that %s → nothing of it stays behind [rendezvous.memory]',
  async (_how, makeSignal, waitMs) => {
    const rendezvous = createMemoryRendezvous()
    const begin = async (): Promise<WeakRef<AbortSignal>> => {
      const signal = makeSignal()
      const { answer } = await rendezvous.wait('a', Date.now() + waitMs, signal)
      expect(await answer).toBeUndefined()
      return new WeakRef(signal)
    }
    const signal = await begin()
    await eventually(() => {
      collectGarbage()
      // Not given to `expect`, which would hold it.
      expect(signal.deref() === undefined).toBe(true)
    })
    await rendezvous.deliver('a', 'nobody waits')
  },
)
