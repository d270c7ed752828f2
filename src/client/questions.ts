/** A server's questions to its user: only for running calls, a few concurrently, and without error details for the server. */
import {
  type ElicitRequestParams,
  type ElicitResult,
  isSpecType,
  ProtocolError,
} from '@modelcontextprotocol/client'
import { textOf } from '../definition/error-text.ts'
import { mayVisit } from './allowed-urls.ts'
import type { Askers } from './call.ts'
import { type ListenerHost, MCPClientError } from './errors.ts'
import { printable } from './printable.ts'

/** What a handler receives besides the question. */
export interface ElicitationContext {
  /** Aborts when the answer is no longer needed: the call is over, the question was cancelled, or the server is gone. */
  readonly signal: AbortSignal
}

/**
 * Answers a server that asks its user. The time for this does not count against the call's timeout if the server asks on the stream of
 * the call, as a process, or in the modern era.
 */
export type ElicitationHandler = (
  request: ElicitRequestParams,
  context: ElicitationContext,
) => ElicitResult | Promise<ElicitResult>

/** Maximum questions of one server at the same time. */
const MAX_AT_ONCE = 8
/** Maximum questions of one call, over all its rounds. */
const MAX_PER_CALL = 32

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

export class Questions {
  handler: ElicitationHandler | undefined
  readonly #host: ListenerHost
  #asking = 0

  constructor(host: ListenerHost) {
    this.#host = host
  }

  /** Returns the answer for the server. @throws ProtocolError with a message that does not reveal the handler's error. */
  async answer(
    askers: Askers | undefined,
    params: ElicitRequestParams,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    const { handler } = this
    if (handler === undefined) return { action: 'cancel' }
    const { calls, isCertain } = this.#admit(askers, params)
    const suspended = isCertain ? calls : []
    this.#asking++
    for (const call of suspended) call.suspend()
    const over = untilOver(signal, calls)
    try {
      return await Promise.race([this.#ask(handler, params, over.signal), over.cancelled])
    } finally {
      over.release()
      this.#asking--
      for (const call of suspended) call.resume()
    }
  }

  #admit(askers: Askers | undefined, params: ElicitRequestParams): Askers {
    if (askers === undefined) {
      throw new ProtocolError(INVALID_REQUEST, 'Questions are answered only while a call is running.')
    }
    if (this.#asking >= MAX_AT_ONCE) {
      throw new ProtocolError(INVALID_REQUEST, `No more than ${MAX_AT_ONCE} questions are answered at once.`)
    }
    for (const call of askers.calls) call.asked++
    if (askers.calls.some(({ asked }) => asked > MAX_PER_CALL)) {
      throw new ProtocolError(
        INVALID_REQUEST,
        `No more than ${MAX_PER_CALL} questions are answered for one call.`,
      )
    }
    if (params.mode === 'url' && !mayVisit(params.url)) {
      throw new ProtocolError(
        INVALID_PARAMS,
        'Only https URLs, or http on this machine, are opened for users.',
      )
    }
    return askers
  }

  async #ask(
    handler: ElicitationHandler,
    params: ElicitRequestParams,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    try {
      const answer = await handler(params, { signal })
      if (isSpecType.ElicitResult(answer)) return answer
      throw new TypeError(
        'The handler must answer with an action, and with content if the action is "accept".',
      )
    } catch (cause) {
      // After the abort the answer is not needed, and most handlers throw.
      if (!signal.aborted) this.#report(cause)
      throw new ProtocolError(INTERNAL_ERROR, 'The question could not be answered.')
    }
  }

  #report(cause: unknown): void {
    const { server } = this.#host
    const text = `The elicitation handler for MCP server "${server}" failed: ${printable(textOf(cause))}`
    this.#host.report(
      new MCPClientError('LISTENER_FAILED', text, { server, operation: 'elicitation/create', cause }),
    )
  }
}

/** Aborts with `signal`, or when the last of the calls is over; the answer is then `cancel`. */
function untilOver(signal: AbortSignal, calls: Askers['calls']) {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const abortAfterLast = (): void => {
    if (calls.every((call) => call.signal.aborted)) abort()
  }
  const cancelled = new Promise<ElicitResult>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true })
  })
  signal.addEventListener('abort', abort, { once: true })
  for (const call of calls) call.signal.addEventListener('abort', abortAfterLast, { once: true })
  if (signal.aborted) abort()
  abortAfterLast()
  const release = (): void => {
    signal.removeEventListener('abort', abort)
    for (const call of calls) call.signal.removeEventListener('abort', abortAfterLast)
  }
  return { signal: controller.signal, cancelled, release }
}
