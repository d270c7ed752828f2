/** How a request of either era asks the client: the binding of its state, its state, and its answers. */

import type { LegacyPolicy } from '../definition/ask.ts'
import type { Feature } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { part } from '../definition/part.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { CallControl, Interaction } from '../interaction/interaction.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import { type Asking, loadAsking } from '../interaction/load-asking.ts'
import { availability, type Conditions } from '../interaction/matrix.ts'
import type { Binding } from '../interaction/seal.ts'
import type { StateOptions } from '../interaction/state.ts'
import type { Params } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { Call, EarlierRounds } from './call.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'

/** The methods that may ask (MCP 2026-07-28, "Multi Round-Trip Requests", "Supported Requests"), and the parameter with their target. */
const TARGET: { readonly [method: string]: 'name' | 'uri' } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

export function canAsk(method: string): boolean {
  return Object.hasOwn(TARGET, method)
}

function bindingOf({ era, method, params }: Call, incoming: Incoming): Binding {
  const target = params[TARGET[method]!]
  return {
    era,
    method,
    target: typeof target === 'string' ? target : '', // refused later, by the method
    // Absent and empty arguments count as the same.
    arguments: params.arguments ?? {},
    principal: principalOf(incoming),
  }
}

function stateOptions(incoming: Incoming, { asking, reportError }: EngineOptions): StateOptions {
  return {
    seal: asking.sealFor(incoming.platform.env),
    ttlMs: asking.stateTtlMs,
    singleUse: asking.singleUse,
    onRefused: (reason) =>
      reportError(new Error(`A request state was refused: ${reason}.`), {
        requestId: incoming.requestId,
        refused: reason,
      }),
  }
}

/** @throws ProtocolError `-32602` for `inputResponses` or `requestState` of a wrong type. */
export function modernRounds(params: Params): EarlierRounds | undefined {
  const { inputResponses: responses, requestState: sealed } = params
  if (responses === undefined && sealed === undefined) return undefined
  if (responses !== undefined && !isObject(responses)) {
    throw invalidParams('Invalid params: "inputResponses" must be an object.')
  }
  if (sealed !== undefined && typeof sealed !== 'string') {
    throw invalidParams('Invalid params: "requestState" must be a string.')
  }
  return { journal: EMPTY_JOURNAL, responses: responses ?? {}, sealed }
}

/**
 * Opens the sealed state, and loads what asks: when the tool runs again, its steps and questions take the turns that they always take.
 *
 * @throws ProtocolError `-32602`, the same for every reason.
 */
export async function openRounds(
  rounds: EarlierRounds,
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
): Promise<void> {
  const { restoreJournal } = await part(loadAsking)
  if (rounds.sealed === undefined) {
    // Without the state that was sealed with the questions, it is unknown whether these answers were used before.
    if (options.asking.singleUse !== undefined) rounds.responses = {}
    return
  }
  rounds.journal = await restoreJournal(
    rounds.sealed,
    bindingOf(call, incoming),
    stateOptions(incoming, options),
  )
}

/** Creates the interaction of a call at its first question or step, so that other calls do not pay for it. */
export function beginInteraction(
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
  control: CallControl,
  conditions: Conditions,
  asking: Asking,
): Interaction {
  if (!canAsk(call.method)) {
    throw new TypeError('Only tools, prompts and resource reads can ask the client.')
  }
  const { journal = EMPTY_JOURNAL, responses = {} } = call.rounds ?? {}
  const binding = bindingOf(call, incoming)
  const state = stateOptions(incoming, options)
  if (call.era === 'modern') {
    const { clientCapabilities } = call
    return asking.createModernInteraction({ journal, responses, clientCapabilities, binding }, control, state)
  }
  const can = (feature: Feature, legacyPolicy: LegacyPolicy) =>
    availability(feature, { ...conditions, legacyPolicy })
  const { protocolVersion } = call
  const { session, env } = incoming.platform
  return asking.createLegacyInteraction({ journal, responses, binding, protocolVersion, can }, control, {
    ...state,
    policy: options.asking.legacyPolicy,
    hasSession: session !== undefined,
    rendezvous: session?.rendezvous ?? options.asking.rendezvousFor(env),
    askTimeoutMs: options.asking.askTimeoutMs,
    beginWait() {
      const place = options.waiting.take(options.callerOf(incoming))
      return typeof place === 'string' ? undefined : place.free
    },
  })
}
