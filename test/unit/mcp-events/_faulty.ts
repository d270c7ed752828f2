/** A store whose writes fail. */
import type { KeyedStore } from '../../../src/keyed/store.ts'

export const FAULTS = ['rejected', 'lost', 'delayed', 'killed before', 'killed after'] as const
export type Fault = (typeof FAULTS)[number]

/** The store of one process, whose write number `at` fails in this way; of 0, none does. */
export function faulty(inner: KeyedStore, fault: Fault, at: number) {
  const seen = new Map<string, number>()
  const state = { writes: 0, isDead: false }
  let die = (): void => {}
  /** Resolves when the process dies. */
  const died = new Promise<'died'>((resolve) => {
    die = () => {
      state.isDead = true
      resolve('died')
    }
  })
  const never = new Promise<never>(() => {})
  const alive = <Result>(work: () => Promise<Result>): Promise<Result> => (state.isDead ? never : work())
  const store: KeyedStore = {
    ...inner,
    read: (key) => alive(() => inner.read(key)),
    list: (options) => alive(() => inner.list(options)),
    commit: (version, writes) =>
      alive(async () => {
        // A commit that is repeated is the same one.
        const number = seen.get(version) ?? ++state.writes
        seen.set(version, number)
        if (number !== at) return inner.commit(version, writes)
        if (fault === 'rejected') throw new Error('the store is down')
        if (fault === 'killed before') {
          die()
          return never
        }
        if (fault === 'delayed') await new Promise((resolve) => setTimeout(resolve, 5))
        const isMade = await inner.commit(version, writes)
        if (fault === 'lost') throw new Error('the answer is lost')
        if (fault === 'killed after') {
          die()
          return never
        }
        return isMade
      }),
  }
  return { store, state, died }
}
