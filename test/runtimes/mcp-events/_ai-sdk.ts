/** The events client of Vercel's AI SDK, and its webhook on a port of this machine. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'

/** What is used of `@ai-sdk/mcp`: it is installed for these tests alone, so that its types are not there for everybody. */
interface AiSdk {
  createMCPClient(options: {
    readonly transport: object
    readonly experimental_events: { readonly store: EventStore }
  }): Promise<AiSdkClient>
  experimental_createMCPEventWebhook(options: {
    readonly store: EventStore
    onEvent(given: { readonly event: ReceivedEvent }): Promise<void>
    onTerminated(): Promise<void>
    onError(error: unknown): void
  }): (request: Request) => Promise<Response>
}

interface AiSdkClient {
  readonly experimental_events: {
    list(): Promise<{ readonly events: readonly { readonly name: string }[] }>
    subscribe(options: object): Promise<{ readonly id: string }>
    refresh(which: { readonly id: string }): Promise<{ readonly id: string }>
    unsubscribe(which: { readonly id: string }): Promise<void>
  }
  callTool(call: { readonly name: string; readonly arguments: object }): Promise<unknown>
  close(): Promise<void>
}

export interface ReceivedEvent {
  readonly eventId: string
  readonly name: string
  readonly data: object
}

interface Subscription {
  readonly key: string
  readonly id?: string
}

interface EventStore {
  get(key: string): Promise<Subscription | undefined>
  getById(id: string): Promise<Subscription | undefined>
  set(subscription: Subscription): Promise<void>
  update(key: string, patch: object): Promise<void>
  delete(key: string): Promise<void>
}

function createStore(): EventStore {
  const kept = new Map<string, Subscription>()
  return {
    get: async (key) => kept.get(key),
    getById: async (id) => [...kept.values()].find((one) => one.id === id),
    set: async (one) => void kept.set(one.key, one),
    update: async (key, patch) => void kept.set(key, { ...kept.get(key)!, ...patch }),
    delete: async (key) => void kept.delete(key),
  }
}

/** An application with the AI SDK, which has received what is in `received`. */
export interface EventsApp {
  readonly received: readonly ReceivedEvent[]
  readonly faults: readonly unknown[]
  connect(server: URL, token: string): Promise<AiSdkClient>
  /** The options of `subscribe` for an event and arguments. */
  subscription(name: string, args: object): object
  close(): Promise<void>
}

export async function startEventsApp(): Promise<EventsApp> {
  const path = join(import.meta.dirname, '../auth/ai-sdk/node_modules/@ai-sdk/mcp/dist/index.js')
  const sdk: AiSdk = await import(pathToFileURL(path).href)
  const store = createStore()
  const received: ReceivedEvent[] = []
  const faults: unknown[] = []
  const webhook = sdk.experimental_createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void received.push(event),
    onTerminated: async () => {},
    onError: (error) => void faults.push(error),
  })
  const http = createServer(getRequestListener(webhook))
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/events`
  return {
    received,
    faults,
    connect: (server, token) =>
      sdk.createMCPClient({
        transport: { type: 'http', url: server.href, headers: { authorization: `Bearer ${token}` } },
        experimental_events: { store },
      }),
    subscription: (name, args) => ({
      name,
      arguments: args,
      delivery: { mode: 'webhook', url, allowInsecureLocalhost: true },
    }),
    async close() {
      http.closeAllConnections()
      await new Promise((done) => http.close(done))
    },
  }
}
