/** A store of tasks in this process that others reach by HTTP, and that can be down; it also keeps what their steps did. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createMemoryTaskStore, type TaskStore } from 'mayfly-mcp/tasks'

export interface StoreServer {
  readonly url: string
  readonly store: TaskStore
  /** What steps did, in order. */
  readonly did: string[]
  isDown: boolean
  stop(): void
}

interface Order {
  readonly method?: 'create' | 'read' | 'replace' | 'due'
  readonly args?: readonly unknown[]
  readonly did?: string
}

export async function startStoreServer(): Promise<StoreServer> {
  const store = createMemoryTaskStore()
  const answer = async ({ method, args = [], did }: Order): Promise<unknown> => {
    if (did !== undefined) server.did.push(did)
    return method && (store[method] as (...args: readonly unknown[]) => unknown)(...args)
  }
  const http = createServer(async (request, response) => {
    const order = JSON.parse(await text(request)) as Order
    if (server.isDown && order.did === undefined) return response.writeHead(503).end()
    response.end(JSON.stringify({ value: await answer(order) }))
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const server: StoreServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    store,
    did: [],
    isDown: false,
    stop() {
      http.close()
      http.closeAllConnections()
    },
  }
  return server
}
