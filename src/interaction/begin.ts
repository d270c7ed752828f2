/** How a request of either era asks the client: the binding of its state, its state, and its answers. */
import type { LegacyPolicy } from '../definition/ask.ts'
import type { ClientCapabilities, Era, Feature } from '../definition/context.ts'
import { createShares, type Shares } from '../definition/shares.ts'
import { type CallControl, createModernInteraction, type Interaction } from './interaction.ts'
import { EMPTY_JOURNAL, type Journal } from './journal.ts'
import { createLegacyInteraction } from './legacy-policy.ts'
import { availability, type Conditions, canAsk, TARGET } from './matrix.ts'
import type { Rendezvous } from './rendezvous.ts'
import type { Binding, Seal } from './seal.ts'
import { restoreJournal, type SingleUseStore, type StateOptions } from './state.ts'

/** How calls ask the client. */
export interface AskingOptions {
  /** The seal of this deployment, from the platform's environment; undefined without a secret. */
  readonly sealFor: (env: unknown) => Seal | undefined
  /** The rendezvous, from the platform's environment. */
  readonly rendezvousFor: (env: unknown) => Rendezvous | undefined
  /** Milliseconds for which a sealed state is valid. */
  readonly stateTtlMs: number
  readonly singleUse: SingleUseStore | undefined
  readonly legacyPolicy: LegacyPolicy
  /** Milliseconds to wait for an answer at the rendezvous. */
  readonly askTimeoutMs: number
}

/** A call that may ask. */
export interface AskingCall {
  readonly era: Era
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
  readonly protocolVersion: string
  readonly clientCapabilities: ClientCapabilities
  readonly rounds: Rounds | undefined
}

interface Rounds {
  journal: Journal
  responses: { readonly [key: string]: unknown }
  readonly sealed: string | undefined
}

/** Who sent a call. */
interface Sender {
  readonly requestId: string
  readonly platform: {
    readonly env?: unknown
    readonly session?: { readonly rendezvous: Rendezvous }
  }
}

/** The server that asks. */
interface Server<From extends Sender> {
  readonly asking: AskingOptions
  readonly reportError: (error: unknown, facts: { readonly [name: string]: unknown }) => void
  readonly maxWaitingCalls: number
  readonly callerShare: number
  readonly waiting: Waiting
  /** Undefined if the caller cannot be told from others. */
  readonly callerOf: (sender: From) => string | undefined
}

/** The calls of a server that wait for an answer at a rendezvous. */
export interface Waiting {
  /** Absent before the first. */
  places?: Shares
}

function bindingOf({ era, method, params }: AskingCall, principal: string): Binding {
  const target = params[TARGET[method]!]
  return {
    era,
    method,
    target: typeof target === 'string' ? target : '', // refused later, by the method
    // Absent and empty arguments count as the same.
    arguments: params.arguments ?? {},
    principal,
  }
}

function stateOptions<From extends Sender>(
  { platform, requestId }: From,
  { asking, reportError }: Server<From>,
): StateOptions {
  return {
    seal: asking.sealFor(platform.env),
    ttlMs: asking.stateTtlMs,
    singleUse: asking.singleUse,
    onRefused: (reason) =>
      reportError(new Error(`A request state was refused: ${reason}.`), { requestId, refused: reason }),
  }
}

/** Opens the sealed state of a call. @throws ProtocolError `-32602`, the same for every reason. */
export async function openRounds<From extends Sender>(
  call: AskingCall,
  sender: From,
  server: Server<From>,
  principal: string,
): Promise<void> {
  const rounds = call.rounds!
  if (rounds.sealed !== undefined)
    rounds.journal = await restoreJournal(
      rounds.sealed,
      bindingOf(call, principal),
      stateOptions(sender, server),
    )
  // Without the state that was sealed with the questions, it is unknown whether these answers were used before.
  else if (server.asking.singleUse !== undefined) rounds.responses = {}
}

/** Creates the interaction of a call at its first question or step, so that other calls do not pay for it. */
export function beginInteraction<From extends Sender>(
  call: AskingCall,
  sender: From,
  server: Server<From>,
  principal: string,
  control: CallControl,
  conditions: Conditions,
): Interaction {
  if (!canAsk(call.method)) {
    throw new TypeError('Only tools, prompts and resource reads can ask the client.')
  }
  const { asking, waiting } = server
  const { env, session } = sender.platform
  const { journal = EMPTY_JOURNAL, responses = {} } = call.rounds ?? {}
  const binding = bindingOf(call, principal)
  const state = stateOptions(sender, server)
  if (call.era === 'modern') {
    const { clientCapabilities } = call
    return createModernInteraction({ journal, responses, clientCapabilities, binding }, control, state)
  }
  const can = (feature: Feature, legacyPolicy: LegacyPolicy) =>
    availability(feature, { ...conditions, legacyPolicy })
  const { protocolVersion } = call
  return createLegacyInteraction({ journal, responses, binding, protocolVersion, can }, control, {
    ...state,
    policy: asking.legacyPolicy,
    hasSession: session !== undefined,
    rendezvous: session?.rendezvous ?? asking.rendezvousFor(env),
    askTimeoutMs: asking.askTimeoutMs,
    beginWait() {
      waiting.places ??= createShares(server.maxWaitingCalls, server.callerShare)
      const place = waiting.places.take(server.callerOf(sender))
      return typeof place === 'string' ? undefined : place.free
    },
  })
}
