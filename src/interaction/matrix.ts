/**
 * The degradation matrix: what a stateless server can do, by feature, era, configuration and platform. It is the only source of the
 * advertised capabilities, of `ctx.can` and of the documentation.
 */
import type { LegacyPolicy } from '../definition/ask.ts'
import type { Availability, ClientCapabilities, Era, Feature } from '../definition/context.ts'
import { missingCapabilities } from './capabilities.ts'

/** What an entry of the matrix depends on. */
export interface Conditions {
  readonly era: Era
  readonly hasBus: boolean
  /** Whether the platform can stream responses and the client accepts `text/event-stream`. */
  readonly canStream: boolean
  readonly clientCapabilities: ClientCapabilities
  readonly protocolVersion: string
  readonly hasSecret: boolean
  readonly hasRendezvous: boolean
  /** Whether the subscriptions of legacy clients are stored. */
  readonly hasSubscriptions?: boolean
  /** How legacy clients are asked. */
  readonly legacyPolicy: LegacyPolicy
  /** Whether the request came in a session or on stdio. */
  readonly hasSession: boolean
  /** The extensions of the server, which know of their own features. */
  readonly extensions?:
    | { available(feature: Feature, conditions: Conditions): Availability | undefined }
    | undefined
  /** Whether the tool has `task`, so that its call can become one. Undefined: some tool has. */
  readonly hasTaskOption?: boolean
  /** Whether the call is a task: its progress is stored, and what it asks too. */
  readonly isTask?: boolean
  /** Whether the method may ask: a tool call, a prompt or a resource read. Undefined: as for these. */
  readonly canAsk?: boolean
  /** Whether the next question needs a state: after a step or an answer, and always for single use. */
  readonly mustRemember?: boolean
  /** Whether this request has a progress token. Undefined: requests may have one. */
  readonly hasProgressToken?: boolean
  /** Whether log messages were requested. Undefined: requests may do so. */
  readonly hasLogLevel?: boolean
  /** Whether the platform reports that a client has disconnected. Undefined: it does. */
  readonly seesDisconnect?: boolean
}

export type Need =
  | 'streaming'
  | 'bus'
  | 'subscriptions'
  | 'secret'
  | 'rendezvous'
  | 'client'
  | 'asking'
  | 'state'
  | 'token'
  | 'level'
  | 'disconnect'

export interface Cell {
  /** All conditions that must be met; with an empty list the feature is always available. */
  readonly needs: readonly Need[]
  readonly unavailable?: { readonly reason: string; readonly remedy: string }
}

const ALWAYS: Cell = { needs: [] }
const BUS: Cell = { needs: ['bus', 'streaming'] }

const unavailable = (reason: string, remedy: string): Cell => ({ needs: [], unavailable: { reason, remedy } })

/** A legacy client may also be in a session of a long-lived process. */
export type Column = Era | 'session'

type Row = { readonly [C in Column]: Cell }

const all = (cell: Cell): Row => ({ modern: cell, legacy: cell, session: cell })

const QUESTION: Row = {
  modern: { needs: ['asking', 'client', 'state'] },
  legacy: { needs: ['asking', 'rendezvous', 'streaming', 'client'] },
  session: { needs: ['asking', 'streaming', 'client'] },
}

const CHANGES: Row = {
  modern: BUS,
  session: ALWAYS,
  legacy: { needs: ['subscriptions', 'bus', 'secret', 'streaming'] },
}

/** The features that no extension has. */
export type OwnFeature = Exclude<Feature, 'tasks'>

/** Entries by feature and column. */
export const MATRIX: { readonly [F in OwnFeature]: Row } = {
  'elicitation.form': QUESTION,
  'elicitation.url': QUESTION,
  sampling: QUESTION,
  roots: QUESTION,
  progress: all({ needs: ['streaming', 'token'] }),
  logging: all({ needs: ['streaming', 'level'] }),
  logLevel: {
    modern: ALWAYS,
    session: ALWAYS,
    legacy: unavailable(
      'logging/setLevel is acknowledged but cannot be remembered: messages from "info" up are sent.',
      'Connect with a client of 2026-07-28 or later: it sends the level in each request.',
    ),
  },
  'tools.listChanged': CHANGES,
  'prompts.listChanged': CHANGES,
  'resources.listChanged': CHANGES,
  'resources.subscribe': CHANGES,
  cancellation: {
    modern: { needs: ['disconnect'] },
    session: ALWAYS,
    legacy: unavailable(
      'A legacy client cancels in a separate request, and a stateless server cannot match it to the call.',
      'Connect with a client of 2026-07-28 or later, which closes the response, or in a session.',
    ),
  },
  resumability: {
    ...all(
      unavailable(
        'Events are not stored, so they cannot be sent again.',
        'Send the request again with a new id.',
      ),
    ),
    session: unavailable(
      'The transport decides whether events are stored, not the request.',
      'Pass an eventStore to createSessions: clients then resume automatically.',
    ),
  },
  sessions: {
    ...all(
      unavailable(
        'The server keeps no state between requests.',
        'Pass an explicit handle as a tool argument.',
      ),
    ),
    session: ALWAYS,
  },
  completions: all(ALWAYS),
}

/** Alternatives: the model can ask for a legacy form, and 2025-11-25 has a special error for a URL. */
export const LEGACY_ALTERNATIVES: { readonly [F in Feature]?: Cell } = {
  'elicitation.form': { needs: ['asking', 'secret'] },
  'elicitation.url': { needs: ['asking', 'client'] },
}

/** The capabilities that the client must have declared for a feature. */
const DECLARED: { readonly [F in Feature]?: ClientCapabilities } = {
  'elicitation.form': { elicitation: { form: {} } },
  'elicitation.url': { elicitation: { url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} },
}

const SET_SECRET =
  'Set MAYFLY_SECRET (32 or more random characters) on this deployment, or `secret` if no adapter serves it.'

const MISSING: { readonly [N in Need]: { readonly reason: string; readonly remedy: string } } = {
  streaming: {
    reason: 'This response cannot be streamed.',
    remedy:
      'Use a platform that streams, sessions without enableJsonResponse, and a client that accepts text/event-stream and sends no batch.',
  },
  bus: {
    reason: 'No bus is configured.',
    remedy: 'Pass a `bus` that all processes share; one long-lived process needs none.',
  },
  subscriptions: {
    reason: 'A legacy client expects changes on a session stream, and a stateless server has none.',
    remedy: 'Connect with a client of 2026-07-28 or later, or configure `subscriptions`.',
  },
  secret: {
    reason: 'No secret is configured.',
    remedy: SET_SECRET,
  },
  rendezvous: {
    reason: 'A legacy client can only be asked on an open connection, and this server has none.',
    remedy: 'Connect with a client of MCP 2026-07-28 or later, or configure a rendezvous.',
  },
  asking: {
    reason: 'Only tools, prompts and resource reads can ask the client.',
    remedy: 'Ask in one of them.',
  },
  state: {
    reason: 'A question after a step or an earlier answer, or with single use, needs a secret.',
    remedy: SET_SECRET,
  },
  token: {
    reason: 'The client did not ask for the progress of this call.',
    remedy: 'Send a progressToken with the request.',
  },
  level: {
    reason: 'The client did not ask for log messages of this call.',
    remedy: 'Send io.modelcontextprotocol/logLevel with the request.',
  },
  disconnect: {
    reason: 'This platform does not report that a client has disconnected.',
    remedy: 'Use short calls, or a tool with `task`, which its client can cancel.',
  },
  client: {
    reason: 'The client did not declare this capability.',
    remedy: 'Use a client that supports it.',
  },
}

const AVAILABLE: Availability = { available: true }

/** The policy for a method: `arguments` applies only to tools, since only they have arguments to continue with. */
export function policyFor(method: string, policy: LegacyPolicy): LegacyPolicy {
  return policy === 'arguments' && method !== 'tools/call' ? 'explain' : policy
}

/** The availability of `feature` under these conditions. */
export function availability(feature: Feature, conditions: Conditions): Availability {
  if (!(feature in MATRIX))
    return (
      conditions.extensions?.available(feature, conditions) ?? {
        available: false,
        reason: `The server has no "${feature}".`,
        remedy: 'Pass the extension that has it.',
      }
    )
  const cell = cellOf(feature as OwnFeature, conditions)
  if (cell.unavailable !== undefined) return { available: false, ...cell.unavailable }
  const missing = cell.needs.find((need) => !holds(need, feature, conditions))
  return missing === undefined ? AVAILABLE : { available: false, ...MISSING[missing] }
}

function cellOf(feature: OwnFeature, { era, legacyPolicy, protocolVersion, hasSession }: Conditions): Cell {
  if (hasSession && era === 'legacy') return MATRIX[feature].session
  const alternative = era === 'legacy' ? LEGACY_ALTERNATIVES[feature] : undefined
  if (feature === 'elicitation.form' && legacyPolicy === 'arguments')
    return alternative ?? MATRIX[feature][era]
  if (feature === 'elicitation.url' && legacyPolicy !== 'rendezvous' && protocolVersion === '2025-11-25') {
    return alternative ?? MATRIX[feature][era]
  }
  return MATRIX[feature][era]
}

function holds(need: Need, feature: Feature, conditions: Conditions): boolean {
  switch (need) {
    case 'streaming':
      return conditions.canStream || (conditions.isTask === true && feature === 'progress')
    case 'bus':
      return conditions.hasBus
    case 'subscriptions':
      return conditions.hasSubscriptions === true
    case 'secret':
      return conditions.hasSecret
    case 'rendezvous':
      return conditions.hasRendezvous && conditions.legacyPolicy === 'rendezvous'
    case 'asking':
      return conditions.canAsk !== false
    case 'state':
      return conditions.hasSecret || conditions.isTask === true || conditions.mustRemember !== true
    case 'token':
      return conditions.hasProgressToken !== false
    case 'level':
      return conditions.hasLogLevel !== false
    case 'disconnect':
      return conditions.seesDisconnect !== false || conditions.isTask === true
    case 'client':
      return (
        Object.keys(missingCapabilities(DECLARED[feature] ?? {}, conditions.clientCapabilities)).length === 0
      )
  }
}

/** The methods that may ask (MCP 2026-07-28, "Multi Round-Trip Requests", "Supported Requests"), and the parameter with their target. */
export const TARGET: { readonly [method: string]: 'name' | 'uri' } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

export function canAsk(method: string): boolean {
  return Object.hasOwn(TARGET, method)
}
