/** Our server, with a tool for each thing that a guard is about. */
import * as z from 'zod'
import { bearer } from '../../src/auth.ts'
import {
  type AuditOptions,
  type ChangeEvent,
  createResource,
  createTool,
  type HttpConfig,
  MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { FAILURES, type Failure, type Probe } from './_probe.ts'

/** How a server is guarded. */
export interface Guarded {
  http?: HttpConfig
  /** Callers need the token `use`; the token `admin` may use everything. `anonymous`: `say` and `note://open` need none. */
  auth?: true | 'anonymous'
  /** Counts calls with the probe's limiter. */
  rate?: true
  audit?: Omit<AuditOptions, 'record'>
  /** Calls pass the probe's middleware. */
  use?: true
  /** With change notifications. */
  bus?: true
}

const TOKENS: { readonly [token: string]: readonly string[] } = { use: ['use'], admin: ['use', 'admin'] }

const OPEN = { tools: ['say'], resources: ['note://open'] }

export const ADMIN = ['admin']

export function hosting(probe: Probe, { http, auth, rate, audit, use }: Guarded) {
  const verify = (token: string) => {
    probe.verified++
    const scopes = TOKENS[token]
    return scopes && { clientId: token, scopes: [...scopes] }
  }
  return {
    ...probe.write,
    audit: { ...audit, ...probe.write.audit },
    http: { ...http, ...(rate && { rateLimiter: probe.limiter }) },
    ...(use && { use: probe.use }),
    // Some of its tools need a scope.
    auth: auth ? bearer(verify, auth === true ? {} : { anonymous: OPEN }) : ('host' as const),
  } satisfies Partial<MCPServerConfig>
}

/** A bus whose subscriptions the probe sees, and on which it publishes that a resource has changed. */
export function createBus<Event>(probe: Probe, updated: (uri: string) => Event) {
  const listeners = new Set<(event: Event) => void>()
  const publish = (event: Event): void => {
    for (const listener of listeners) listener(event)
  }
  probe.update = (uri) => publish(updated(uri))
  return {
    publish,
    // Each stream subscribes by itself, so that the probe sees each.
    isRequestBound: true,
    subscribe: (listener: (event: Event) => void) => {
      const over = probe.hold()
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        over()
      }
    },
  }
}

const FAILS = z.object({ how: z.string(), late: z.boolean().default(false) })

export function createOurs(probe: Probe, guarded: Guarded): MCPServer {
  const { happened } = probe
  const tools = {
    say: createTool({
      id: 'say',
      inputSchema: z.looseObject({ text: z.string().default('said') }),
      execute: ({ text }) => {
        happened.push('say')
        return text
      },
    }),
    wait: createTool({ id: 'wait', execute: (_input, ctx) => probe.wait(ctx.signal) }),
    stubborn: createTool({ id: 'stubborn', execute: () => probe.wait(new AbortController().signal) }),
    rule: createTool({ id: 'rule', scopes: ADMIN, execute: () => String(happened.push('rule')) }),
    later: createTool({
      id: 'later',
      execute: (_input, ctx) => {
        happened.push('later')
        ctx.waitUntil(Promise.reject(new Error('later failed')))
        return 'now'
      },
    }),
    big: createTool({ id: 'big', execute: () => 'x'.repeat(10_000) }),
    fail: createTool({
      id: 'fail',
      inputSchema: FAILS,
      execute: ({ how, late }) => {
        const error = FAILURES[how as Failure]()
        if (!late) throw error
        return Promise.reject(error)
      },
    }),
  }
  const resources = [
    createResource({ uri: 'note://open', read: () => 'open' }),
    createResource({ uri: 'note://secret', scopes: ADMIN, read: () => 'secret' }),
    createResource({
      uriTemplate: 'fail://{how}',
      read: ({ variables }) => {
        throw FAILURES[String(variables.how) as Failure]()
      },
    }),
  ]
  return new MCPServer({
    id: 'guarded',
    name: 'Guarded',
    version: '1.0.0',
    tools,
    resources,
    ...(guarded.bus && { bus: createBus<ChangeEvent>(probe, (uri) => ({ type: 'resourceUpdated', uri })) }),
    ...hosting(probe, guarded),
  })
}
