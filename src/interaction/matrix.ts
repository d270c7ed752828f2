/**
 * The degradation matrix: what a server that keeps nothing between requests can do, by feature, era, configuration and
 * platform. The one source of what is advertised, what `ctx.can` says and what the documentation claims.
 */
import type { Availability, ClientCapabilities, Era, Feature } from '../definition/context.ts'

/** What a cell of the matrix depends on. */
export interface Conditions {
  readonly era: Era
  readonly hasBus: boolean
  /** The platform can send a response piece by piece, and the client accepts `text/event-stream`. */
  readonly canStream: boolean
  readonly clientCapabilities: ClientCapabilities
}

interface Cell {
  /** All that must hold; an empty list is always available. */
  readonly needs: readonly ('streaming' | 'bus')[]
  readonly unavailable?: { readonly reason: string; readonly remedy: string }
}

const ALWAYS: Cell = { needs: [] }
const STREAMING: Cell = { needs: ['streaming'] }
const BUS: Cell = { needs: ['bus', 'streaming'] }

const never = (reason: string, remedy: string): Cell => ({ needs: [], unavailable: { reason, remedy } })

const both = (cell: Cell): { readonly [E in Era]: Cell } => ({ modern: cell, legacy: cell })

const LATER = both(
  never(
    'This version of Mayfly does not ask the client for input.',
    'Take what the tool needs as an argument, so that the model asks its user.',
  ),
)
const CHANGES = {
  modern: BUS,
  legacy: never(
    'A legacy client expects changes on a session stream, and a stateless server has none.',
    'Connect with a client of 2026-07-28 or later, or list again.',
  ),
}

/** Feature by era. */
export const MATRIX: { readonly [F in Feature]: { readonly [E in Era]: Cell } } = {
  'elicitation.form': LATER,
  'elicitation.url': LATER,
  sampling: LATER,
  roots: LATER,
  progress: both(STREAMING),
  logging: both(STREAMING),
  logLevel: {
    modern: ALWAYS,
    legacy: never(
      'logging/setLevel is acknowledged but cannot be remembered: messages from "info" up are sent.',
      'Connect with a client of 2026-07-28 or later: it names the level in each request.',
    ),
  },
  'tools.listChanged': CHANGES,
  'prompts.listChanged': CHANGES,
  'resources.listChanged': CHANGES,
  'resources.subscribe': CHANGES,
  cancellation: both(ALWAYS),
  resumability: both(
    never('Nothing is kept that could be sent again.', 'Send the request again with a new id.'),
  ),
  sessions: both(never('Nothing is kept between requests.', 'Pass an explicit handle as a tool argument.')),
  completions: both(ALWAYS),
  tasks: both(
    never('The tasks extension is not implemented.', 'Return a handle, and offer a tool that reports on it.'),
  ),
}

const MISSING: {
  readonly [need in 'streaming' | 'bus']: { readonly reason: string; readonly remedy: string }
} = {
  streaming: {
    reason: 'This response cannot be streamed.',
    remedy: 'Use a platform that streams, and a client that accepts text/event-stream.',
  },
  bus: {
    reason: 'No bus is configured.',
    remedy: 'Pass `bus: createMemoryBus()` for one process, or a shared bus for several.',
  },
}

const AVAILABLE: Availability = { available: true }

/** What the matrix says of `feature` under these conditions. */
export function availability(feature: Feature, conditions: Conditions): Availability {
  const cell = MATRIX[feature][conditions.era]
  if (cell.unavailable !== undefined) return { available: false, ...cell.unavailable }
  const missing = cell.needs.find((need) => !(need === 'bus' ? conditions.hasBus : conditions.canStream))
  return missing === undefined ? AVAILABLE : { available: false, ...MISSING[missing] }
}

export interface ServerCapabilities {
  tools?: { listChanged?: true }
  prompts?: { listChanged?: true }
  resources?: { listChanged?: true; subscribe?: true }
  completions?: object
  logging?: object
}

/** What `initialize` and `server/discover` advertise: never a capability that could not be honoured. */
export function advertise(
  offers: { hasTools: boolean; hasPrompts: boolean; hasResources: boolean; hasCompletions: boolean },
  conditions: Conditions,
): ServerCapabilities {
  const listChanged = (feature: Feature) =>
    availability(feature, conditions).available ? { listChanged: true as const } : {}
  const subscribe = availability('resources.subscribe', conditions).available
    ? { subscribe: true as const }
    : {}
  return {
    ...(offers.hasTools && { tools: listChanged('tools.listChanged') }),
    ...(offers.hasPrompts && { prompts: listChanged('prompts.listChanged') }),
    ...(offers.hasResources && { resources: { ...listChanged('resources.listChanged'), ...subscribe } }),
    ...(offers.hasCompletions && { completions: {} }),
    ...(availability('logging', conditions).available && { logging: {} }),
  }
}
