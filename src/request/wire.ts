/**
 * The parts of a context: the facts of its request, and its access to the wire.
 */
import type { LogLevel, McpContext } from '../definition/context.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { CallControl, Interaction } from '../interaction/interaction.ts'
import type { Journal } from '../interaction/journal.ts'
import type { Asking } from '../interaction/load-asking.ts'
import type { Conditions } from '../interaction/matrix.ts'
import type { Access } from './access.ts'
import type { SendNotification } from './notifier.ts'

/** The facts of a request that are known from the start: the plain members of its context. */
export type ContextFacts = Pick<
  McpContext,
  | 'requestId'
  | 'era'
  | 'protocolVersion'
  | 'clientInfo'
  | 'clientCapabilities'
  | 'deadline'
  | 'auth'
  | 'env'
  | 'waitUntil'
> & {
  readonly sessionId?: string | undefined
  readonly access?: Access | undefined
  /** Not a getter: each object literal with a getter has its own hidden class, which retains its call until a full collection. */
  readonly request?: () => Request | undefined
}

/** The context's access to the wire. */
export interface ContextWire {
  readonly rpcId: string | number
  readonly method: string
  readonly meta: Record<string, unknown> | undefined
  readonly progressToken: string | number | undefined
  readonly logLevel: LogLevel | undefined
  /** The conditions that the degradation matrix depends on. */
  readonly conditions: () => Conditions
  readonly send: SendNotification
  /** Publishes a change to the listeners. */
  readonly publish: (event: ChangeEvent) => Promise<void>
  /** The answers and state from earlier rounds of the same call. */
  readonly rounds:
    | { readonly journal: Journal; readonly responses: { readonly [key: string]: unknown } }
    | undefined
  /** How this call asks; created at the first question or step. */
  readonly interaction: (asking: Asking) => Interaction
  /** The same, for a call that may become a task: `control` replaces the call's own. */
  readonly begin: (control: Omit<CallControl, 'sendRequest'>, asking: Asking) => Interaction
  /** When the call will be ended, in milliseconds since the epoch. Undefined: no limit. */
  readonly endsAt: () => number | undefined
  /** The caller for whom places are counted; undefined if it cannot be told from others. */
  readonly caller: () => string | undefined
}
