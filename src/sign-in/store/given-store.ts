/** The user's store as one server uses it: its own keys, and a limit of time for each answer. */
import { digest } from '../../definition/digest.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../../definition/timeout.ts'
import type { GrantStore } from './store.ts'

/** Servers with other issuers, such as other stages, may share the store: none of them sees another's entries. */
export async function storeOf(store: GrantStore, issuer: string): Promise<GrantStore> {
  const own = `${(await digest(issuer)).slice(0, 16)}:`
  const inTime = <Value>(answer: Promise<Value>): Promise<Value> =>
    withTimeout(answer, ANSWER_TIMEOUT_MS, 'store of grants')
  return {
    read: (key) => inTime(store.read(own + key)),
    commit: (version, writes) =>
      inTime(
        store.commit(
          version,
          writes.map((write) => ({ ...write, key: own + write.key })),
        ),
      ),
    async list({ prefix, limit, after }) {
      const start = after === undefined ? {} : { after: own + after }
      const { keys, next } = await inTime(store.list({ prefix: own + prefix, limit, ...start }))
      return {
        keys: keys.map((key) => key.slice(own.length)),
        ...(next !== undefined && { next: next.slice(own.length) }),
      }
    },
  }
}
