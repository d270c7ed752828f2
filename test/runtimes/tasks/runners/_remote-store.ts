/** A store of tasks behind `_store-server.ts`, by nothing but `fetch`: for servers in processes and isolates of their own. */
import type { TaskStore } from 'mayfly-mcp/tasks'

export function remoteStore(url: string): TaskStore {
  const call = async <Value>(method: string, ...args: unknown[]): Promise<Value> => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ method, args }) })
    if (!response.ok) throw new Error(`The store answered ${response.status}.`)
    return ((await response.json()) as { value?: Value }).value as Value
  }
  return {
    maxStateBytes: 1_000_000,
    create: (task, maxOpen) => call('create', task, maxOpen),
    read: (id) => call('read', id),
    replace: (task) => call('replace', task),
    due: (now, limit) => call('due', now, limit),
  }
}

/** Writes down that a step has run. */
export async function did(url: string, what: string): Promise<void> {
  await (await fetch(url, { method: 'POST', body: JSON.stringify({ did: what }) })).text()
}
