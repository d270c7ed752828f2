/** A server with events, callers with tokens, and endpoints that record what they get. */
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import type { MCPServerConfig } from '../../../src/index.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import {
  createEvent,
  createMemoryEvents,
  type EventSender,
  type EventsOptions,
  events,
  type PostOutcome,
} from '../../../src/mcp-events.ts'
import { createVerifier, readSigned } from '../../../src/webhook/signature.ts'
import { type Answer, createServer, modern } from '../_client.ts'

export const SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_none, at) => at + 1)).toString('base64')}`
export const OTHER_SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_none, at) => at + 101)).toString('base64')}`
export const URL_A = 'https://a.example.com/hooks?key=1'
export const URL_B = 'https://b.example.com/hooks'

export const TOKENS = {
  alice: 'token-of-alice-thirty-two-characters',
  bob: 'token-of-bob-thirty-two-characters-0',
  guest: 'token-of-guest-thirty-two-characters',
}
export type Person = keyof typeof TOKENS

export const incident = createEvent({
  id: 'incident.created',
  description: 'A new incident',
  inputSchema: z.object({ severity: z.enum(['P1', 'P2']).optional(), service: z.string().optional() }),
  payloadSchema: z.object({ title: z.string(), severity: z.string(), service: z.string().optional() }),
  scopes: ['incidents:read'],
  index: ['severity'],
  matches: (data, args) => args.service === undefined || args.service === data.service,
})

export interface Received {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly raw: string
  // biome-ignore lint/suspicious/noExplicitAny: each test looks at the members of its own body.
  readonly body: Record<string, any>
}

export interface Endpoints extends EventSender {
  /** All requests but verifications. */
  readonly received: Received[]
  readonly verifications: Received[]
  /** What the next requests are answered, verifications not included. Default: 200. */
  answer: (received: Received) => PostOutcome | Promise<PostOutcome>
  /** What verifications are answered. Default: the challenge. */
  verify: (received: Received) => PostOutcome | Promise<PostOutcome>
}

export function createEndpoints(): Endpoints {
  const endpoints: Endpoints = {
    received: [],
    verifications: [],
    answer: () => ({ status: 200 }),
    verify: ({ body }) => ({ status: 200, body: JSON.stringify({ challenge: body.challenge }) }),
    async post(url, { headers, body: raw }) {
      const received = { url, headers, raw, body: JSON.parse(raw) }
      const isVerification = received.body.type === 'verification'
      endpoints[isVerification ? 'verifications' : 'received'].push(received)
      return isVerification ? endpoints.verify(received) : endpoints.answer(received)
    },
  }
  return endpoints
}

/** Whether a request is signed with the secret, as a receiver of Standard Webhooks sees it. */
export async function isSigned({ headers, raw }: Received, secret: string): Promise<boolean> {
  const signed = readSigned(new Headers(headers))
  return signed !== undefined && createVerifier([secret]).verify(signed, new TextEncoder().encode(raw))
}

export function createEventServer(
  options: Partial<EventsOptions> = {},
  store: KeyedStore = createMemoryEvents(),
  config: Pick<MCPServerConfig, 'auth' | 'log' | 'telemetry'> = {},
) {
  const endpoints = createEndpoints()
  const errors: unknown[] = []
  const auth = staticTokens([
    { token: TOKENS.alice, clientId: 'alice', scopes: ['incidents:read'] },
    { token: TOKENS.bob, clientId: 'bob', scopes: ['incidents:read'] },
    { token: TOKENS.guest, clientId: 'guest', scopes: [] },
  ])
  const make = () =>
    createServer({
      auth,
      onError: (error) => void errors.push(error),
      events: events({ types: { incident }, store, deliver: endpoints, ...options }),
      ...config,
    })
  const server = make()
  const call = (person: Person, method: string, params: object): Promise<Answer> =>
    modern(server, method, { ...params }, { headers: { authorization: `Bearer ${TOKENS[person]}` } })
  return {
    server,
    /** Another process with the same store. */
    restart: make,
    store,
    endpoints,
    errors,
    call,
    subscribe: (params: object = {}, person: Person = 'alice', delivery: object = {}): Promise<Answer> =>
      call(person, 'events/subscribe', {
        name: 'incident.created',
        arguments: {},
        cursor: null,
        ...params,
        delivery: { mode: 'webhook', url: URL_A, secret: SECRET, ...delivery },
      }),
    unsubscribe: (params: object = {}, person: Person = 'alice', url = URL_A): Promise<Answer> =>
      call(person, 'events/unsubscribe', {
        name: 'incident.created',
        arguments: {},
        ...params,
        delivery: { mode: 'webhook', url },
      }),
    /** Emits, and waits for its deliveries. */
    async emit(data: object = {}, eventId?: string, name = 'incident.created') {
      const work: Promise<unknown>[] = []
      const emitted = await server.events.emit(
        name,
        { title: 'Down', severity: 'P1', ...data },
        { ...(eventId !== undefined && { eventId }), waitUntil: (promise) => void work.push(promise) },
      )
      await Promise.all(work)
      return emitted
    },
    titles: () => endpoints.received.map(({ body }) => body.data?.title),
  }
}
