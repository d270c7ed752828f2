/** A store that does in a Worker of a real workerd what it is asked here. */
import type { KeyedStore } from '../../../src/keyed/store.ts'

/** JSON, which has no undefined, and escapes what is not Unicode. */
export function storeInWorker(
  url: URL,
  { object = 'Grants', name, timeoutMs = 30_000 }: { object?: string; name: string; timeoutMs?: number },
): KeyedStore {
  const call = async <Value>(method: string, ...args: unknown[]): Promise<Value> => {
    const order = { object, method, args, name, timeoutMs }
    const text = JSON.stringify(order, (_key, value) =>
      typeof value === 'number' && !Number.isFinite(value) ? 'no number' : value,
    )
    const response = await fetch(new URL('/call', url), { method: 'POST', body: text })
    const answer = (await response.json()) as { value?: Value; error?: string; isTypeError?: boolean }
    if (answer.error === undefined) return answer.value as Value
    throw answer.isTypeError ? new TypeError(answer.error) : new Error(answer.error)
  }
  return {
    read: (key) => call('read', key),
    commit: (version, writes) => call('commit', version, writes),
    list: (options) => call('list', options),
  }
}
