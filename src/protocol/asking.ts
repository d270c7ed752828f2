/**
 * How a request of either era asks the client: its binding, the state it brought, and the answers in it.
 */
import { invalidParams } from '../definition/protocol-error.ts'
import { createModernInteraction } from '../interaction/interaction.ts'
import { CONTINUE, createLegacyInteraction, readContinuation } from '../interaction/legacy.ts'
import { availability } from '../interaction/matrix.ts'
import { EMPTY_JOURNAL, type Journal } from '../interaction/replay.ts'
import type { Binding } from '../interaction/seal.ts'
import { restoreJournal, type StateOptions } from '../interaction/state.ts'
import type { Params } from '../request/params.ts'
import type { Asking } from './answer.ts'
import { isObject } from './json-rpc.ts'
import type { EngineOptions, Incoming } from './options.ts'

/** The methods that may ask (MCP 2026-07-28, "Multi Round-Trip Requests", "Supported Requests"), and what they name. */
const TARGET: { readonly [method: string]: 'name' | 'uri' } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** Who asks, for the binding; empty for an anonymous caller. */
export function principalOf({ auth }: Incoming): string {
  return auth === undefined ? '' : `${auth.clientId} ${String(auth.extra?.sub ?? '')}`
}

function bindingOf(method: string, params: Params, incoming: Incoming): Binding {
  return {
    method,
    target: String(params[TARGET[method]!]),
    arguments: params.arguments,
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

/** @throws ProtocolError `-32602` where `inputResponses` or `requestState` is not what it must be. */
export function modernAsking(
  method: string,
  params: Params,
  clientCapabilities: Parameters<typeof createModernInteraction>[0]['clientCapabilities'],
  incoming: Incoming,
  options: EngineOptions,
): Asking | undefined {
  if (!Object.hasOwn(TARGET, method)) return undefined
  const { inputResponses: responses = {}, requestState } = params
  if (!isObject(responses)) throw invalidParams('Invalid params: "inputResponses" must be an object.')
  if (requestState !== undefined && typeof requestState !== 'string') {
    throw invalidParams('Invalid params: "requestState" must be a string.')
  }
  let journal: Journal = EMPTY_JOURNAL
  const open = async (): Promise<void> => {
    journal = await restoreJournal(
      requestState!,
      bindingOf(method, params, incoming),
      stateOptions(incoming, options),
    )
  }
  return {
    open: requestState === undefined ? undefined : open,
    begin: (control) =>
      createModernInteraction(
        { journal, responses, clientCapabilities, binding: bindingOf(method, params, incoming) },
        control,
        stateOptions(incoming, options),
      ),
  }
}

/** Legacy: a continuation travels among the arguments of a tool. Returns the parameters without it. */
export function legacyAsking(
  method: string,
  params: Params,
  incoming: Incoming,
  options: EngineOptions,
): { readonly asking: Asking | undefined; readonly params: Params } {
  if (!Object.hasOwn(TARGET, method)) return { asking: undefined, params }
  const { [CONTINUE]: continuation, ...args } = isObject(params.arguments) ? params.arguments : {}
  const isContinued = method === 'tools/call' && continuation !== undefined
  const plain: Params = isContinued ? { ...params, arguments: args } : params
  const { token, answers } = isContinued ? readContinuation(continuation) : { token: '', answers: {} }
  const binding = bindingOf(method, plain, incoming)
  let journal: Journal = EMPTY_JOURNAL
  const open = async (): Promise<void> => {
    journal = await restoreJournal(token, binding, stateOptions(incoming, options))
  }
  const asking: Asking = {
    open: isContinued ? open : undefined,
    begin: (control, conditions) =>
      createLegacyInteraction(
        {
          journal,
          responses: answers,
          binding,
          protocolVersion: conditions.protocolVersion,
          can: (feature, legacyPolicy) => availability(feature, { ...conditions, legacyPolicy }),
        },
        control,
        {
          ...stateOptions(incoming, options),
          policy: options.asking.legacyPolicy,
          rendezvous: options.asking.rendezvousFor(incoming.platform.env),
          askTimeoutMs: options.asking.askTimeoutMs,
        },
      ),
  }
  return { asking, params: plain }
}
