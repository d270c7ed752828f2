/** Every entry: the server behind it, how that is mounted, and how its client calls. */
import type { FetchServer } from '../../adapters/node.ts'
import type { MCPServer } from '../../src/index.ts'
import type { Call, Client } from './_clients.ts'
import * as clients from './_clients.ts'
import { createNode, createSdkV1, createSdkV2 } from './_foreign.ts'
import { FRONTS, type Front, type Told } from './_fronts.ts'
import { createOurs, type Guarded } from './_ours.ts'
import { Probe } from './_probe.ts'
import { startProcess } from './_stdio.ts'
import type { EntryId } from './matrix.ts'

export interface Entry {
  /** Calls are of tools, or open streams that go on. */
  readonly kind: 'call' | 'listen'
  /** Where the server's code can throw anything: in tools and resources, or in what makes a server. */
  readonly throwsIn: 'code' | 'factory' | 'bus'
  /** Whether the HTTP status is that of the call: not where it comes with others, or on a connection. */
  readonly hasStatus: boolean
  /** Whether calls that are sent together come in one request. */
  readonly isBatch: boolean
  /** What the log has a line for. */
  readonly logs: 'request' | 'message'
  start(guarded?: Guarded, told?: Told): Promise<Started>
}

export interface Started {
  readonly probe: Probe
  /** Undefined on stdio. */
  readonly front: Front | undefined
  /** A client that is ready to call. What it took to get there is forgotten by the probe. */
  connect(token?: string): Promise<Client>
  close(): Promise<unknown>
}

type CreateServer = (probe: Probe, guarded: Guarded) => FetchServer

/** A server on a front, called by a client. */
function entry<Server extends FetchServer>(
  createServer: (probe: Probe, guarded: Guarded) => Server,
  mount: (server: Server, told: Told) => Promise<Front>,
  connect: (target: clients.Target) => Promise<Client>,
  traits: Partial<Omit<Entry, 'start'>> = {},
): Entry {
  return {
    kind: 'call',
    throwsIn: createServer === (createOurs as CreateServer) ? 'code' : 'factory',
    hasStatus: true,
    isBatch: false,
    logs: 'request',
    ...traits,
    async start(guarded = {}, told = {}) {
      const probe = new Probe()
      const front = await mount(createServer(probe, guarded), told)
      const open = new Set<Client>()
      return {
        probe,
        front,
        async connect(token) {
          const client = await connect({ ...front, token })
          open.add(client)
          probe.forget()
          return client
        },
        async close() {
          for (const client of open) client.close()
          await front.close()
        },
      }
    },
  }
}

/** Ours, with change notifications. */
const withBus = (probe: Probe, guarded: Guarded): MCPServer => createOurs(probe, { ...guarded, bus: true })

const BATCH = { hasStatus: false, isBatch: true } as const
const LISTEN = { kind: 'listen' } as const
const CONNECTED = { hasStatus: false, logs: 'message' } as const
const { serve, sessions, sse, honoSse, startHttp, nodeListener, hono } = FRONTS

export const IMPLEMENTED: { readonly [E in EntryId]: Entry } = {
  modern: entry(createOurs, serve, clients.modern),
  legacy: entry(createOurs, serve, clients.legacy),
  batch: entry(createOurs, serve, clients.batch, BATCH),
  listen: entry(withBus, serve, clients.listen, { ...LISTEN, throwsIn: 'bus' }),
  session: entry(createOurs, sessions, clients.session, CONNECTED),
  sessionBatch: entry(createOurs, sessions, clients.sessionBatch, { ...BATCH, ...CONNECTED }),
  sessionless: entry(createOurs, sessions, clients.legacy),
  sse: entry(createOurs, sse, clients.sse, CONNECTED),
  honoSse: entry(createOurs, honoSse, clients.sse, CONNECTED),
  stdio: {
    kind: 'call',
    throwsIn: 'code',
    hasStatus: false,
    isBatch: false,
    logs: 'message',
    async start(guarded = {}) {
      const { probe, client, close } = await startProcess(guarded)
      const connect = async (): Promise<Client> => {
        probe.forget()
        return client
      }
      return { probe, front: undefined, connect, close }
    },
  },
  startHttp: entry(createOurs, startHttp, clients.modern),
  nodeListener: entry(createOurs, nodeListener, clients.modern),
  hono: entry(createOurs, hono, clients.modern),
  sdkV1: entry(createSdkV1, serve, clients.legacy),
  sdkV2: entry(createSdkV2, serve, clients.modern),
  sdkV2Legacy: entry(createSdkV2, serve, clients.legacy),
  sdkBatch: entry(createSdkV1, serve, clients.batch, BATCH),
  sdkListen: entry(createSdkV2, serve, clients.listen, LISTEN),
  fromNode: entry(createNode, serve, clients.legacy),
}

/** A call of one of the server's tools; on an entry that listens, a stream that stands for it. */
export function toCall({ kind }: Entry, name: string, args: object = {}): Call {
  return kind === 'call' ? { method: 'tools/call', params: { name, arguments: args } } : listenTo()
}

export function listenTo(...uris: string[]): Call {
  const notifications = uris.length === 0 ? { resourcesListChanged: true } : { resourceSubscriptions: uris }
  return { method: 'subscriptions/listen', params: { notifications } }
}
