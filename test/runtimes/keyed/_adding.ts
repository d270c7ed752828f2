/** A commit over several entries that have the same count: whatever ends in the middle of it, they have the same one afterwards. */
import type { KeyedStore, KeyedWrite } from '../../../src/keyed/store.ts'

const KEYS = Array.from({ length: 8 }, (_, index) => `entry:${index}`)

/** Entries that come and go with the count: those of even ones. */
const EVEN = ['even:1', 'even:2']

/** Resolves with false if another process was faster. */
export async function addOne(store: KeyedStore): Promise<boolean> {
  const before = await store.read(KEYS[0]!)
  const count = Number(before?.value ?? 0) + 1
  const ifVersion = before?.version ?? null
  const writes: KeyedWrite[] = KEYS.map((key) => ({ key, value: `${count}`.padEnd(1000), ifVersion }))
  for (const key of EVEN) writes.push({ key, ...(count % 2 === 0 && { value: `${count}` }) })
  return store.commit(crypto.randomUUID(), writes)
}

/** @throws Error unless all entries are of one commit. */
export async function countOf(store: KeyedStore): Promise<number> {
  const entries = await Promise.all(KEYS.map((key) => store.read(key)))
  const versions = new Set(entries.map((entry) => entry?.version))
  if (versions.size !== 1) throw new Error(`Entries of ${versions.size} commits: some of one are missing.`)
  const count = Number(entries[0]?.value ?? 0)
  const { keys } = await store.list({ prefix: 'even:', limit: 10 })
  const expected = count > 0 && count % 2 === 0 ? EVEN : []
  if (keys.join() !== expected.join()) throw new Error(`After ${count} commits there is "${keys.join()}".`)
  return count
}
