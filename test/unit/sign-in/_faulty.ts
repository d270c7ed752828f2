/** Stores that are slow, or fail at one of their writes. */
import type { GrantStore, GrantWrite } from '../../../src/sign-in/store/store.ts'

/** Each answer takes a turn of the event loop or several, so that requests overlap. */
export function slow(store: GrantStore): GrantStore {
  const turn = async (): Promise<void> => {
    for (let turns = Math.ceil(Math.random() * 3); turns > 0; turns--)
      await new Promise((go) => setImmediate(go))
  }
  return {
    ...store,
    async read(key) {
      await turn()
      const entry = await store.read(key)
      await turn()
      return entry
    },
    async commit(version, writes) {
      await turn()
      const made = await store.commit(version, writes)
      await turn()
      return made
    },
  }
}

/** `before`: the commit is not made. `after`: it is made, and its answer is lost. `once`: only its first attempt. */
export type Fault = 'before' | 'after' | 'before-once' | 'after-once'

/** Fails at the commit with this number, from 1. */
export function faulty(
  store: GrantStore,
  number: number,
  fault: Fault,
): GrantStore & { readonly commits: () => number } {
  let commits = 0
  const failed = new Set<string>()
  const numbers = new Map<string, number>()
  return {
    ...store,
    commits: () => commits,
    async commit(version: string, writes: readonly GrantWrite[]) {
      if (!numbers.has(version)) numbers.set(version, ++commits)
      const isIt = numbers.get(version) === number && !(fault.endsWith('-once') && failed.has(version))
      if (!isIt) return store.commit(version, writes)
      failed.add(version)
      if (fault.startsWith('after')) await store.commit(version, writes)
      throw new Error('The store does not answer.')
    },
  }
}
