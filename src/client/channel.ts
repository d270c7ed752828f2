/**
 * Sits between the official client and a transport. Passes on only valid, requested messages from the server, and no more than can be
 * handled. Fails a call if its answer can no longer arrive.
 */

import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResultResponse,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { ResponseTooLarge } from './body-limit.ts'
import type { Askers, Call } from './call.ts'
import { checkEntries, hasFewMembers } from './entries.ts'
import type { Exchanges } from './exchanges.ts'
import { isList, keepWellFormed, Walks } from './lists.ts'
import { Rounds } from './rounds.ts'
import { isTaskResult, readStarted } from './task.ts'
import { UnsolicitedMessages } from './unsolicited-messages.ts'

export interface ChannelOptions {
  /** The key of the parameter that marks a request as a call; never sent. */
  readonly callKey: symbol
  readonly maxResponseBytes: number
  /** Whether modern servers may answer calls with tasks. */
  readonly allowsTasks: boolean
  /** Whether questions are passed on with the server's own keys. */
  readonly isRelay: boolean
  /** Undefined if the transport's requests do not use this client's `fetch`. */
  readonly exchanges: Exchanges | undefined
  /** Called with a description of the server's violations; once for each kind. */
  readonly report: (what: string, operation: string) => void
}

interface Pending {
  readonly method: string
  readonly call: Call | undefined
  readonly onStreamed: Call['onStreamed']
  readonly controller: AbortController
  readonly tag: string | undefined
  /** The bytes of a list's earlier pages. */
  readonly bytesBefore: number
  /** Whether the transport has finished sending. Later answers arrive on a stream. */
  isSent: boolean
}

/** Milliseconds for which a stream may continue after its answer. */
const LINGER_MS = 1000
/** The first modern revision: from then on, servers send no requests. */
const MODERN = '2026-07-28'
const EVENTS = 'notifications/events/'
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
/** Only seen by the official client, which turns it into an error. */
const FAILED = -32000

export class Channel implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  readonly inner: Transport
  /** Whether either side has ended it. */
  hasEnded = false
  readonly #options: ChannelOptions
  readonly #pending = new Map<RequestId, Pending>()
  readonly #lingering = new Map<Pending, ReturnType<typeof setTimeout>>()
  readonly #rounds = new Rounds()
  readonly #walks: Walks
  readonly #unsolicited: UnsolicitedMessages
  #isModern = false
  #fault: Error | undefined

  constructor(inner: Transport, options: ChannelOptions) {
    this.inner = inner
    this.#options = options
    this.#walks = new Walks(options.maxResponseBytes)
    this.#unsolicited = new UnsolicitedMessages({
      pass: (message, extra) => this.onmessage?.(message, extra),
      findAskers: (request) => this.#findAskers(request),
      isUnderWay: (token) => this.#known(token) !== undefined,
      report: (what) => options.report(what, 'notification'),
    })
    // The official client recognizes a process by these members.
    for (const name of ['pid', 'stderr']) {
      if (name in inner) Object.defineProperty(this, name, { get: () => Reflect.get(inner, name) })
    }
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.#isModern = version >= MODERN
    this.#unsolicited.mayRequest = !this.#isModern
    this.#unsolicited.begin()
    this.inner.setProtocolVersion?.(version)
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.inner.setSupportedProtocolVersions?.(versions)
  }

  async start(): Promise<void> {
    this.inner.onmessage = (message, extra) => this.#receive(message, extra)
    this.inner.onclose = () => this.#onClose()
    this.inner.onerror = (error) => {
      if (isA(error, ResponseTooLarge)) this.#fault = error
      this.onerror?.(error)
    }
    await this.inner.start()
  }

  async close(): Promise<void> {
    await this.inner.close()
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if ('method' in message && 'id' in message) return this.#ask(message, options)
    const sent = this.inner.send(message, options)
    if (!('method' in message)) return sent.finally(() => this.#unsolicited.answered(message.id))
    if (message.method === 'notifications/cancelled') this.#forget(message.params?.requestId)
    await sent
  }

  /** The calls for which a question may be asked; undefined if there are none. */
  askersOf(question: RequestId): Askers | undefined {
    const call = this.#rounds.callOf(question)
    return call === undefined ? this.#unsolicited.askersOf(question) : { calls: [call], isCertain: true }
  }

  async #ask(message: JSONRPCRequest, options: TransportSendOptions): Promise<void> {
    const { id, method } = message
    const params = this.#outgoing(message)
    const asking: Call | undefined = params && Reflect.get(params, this.#options.callKey)
    // A stream has no end: its server may not ask questions meanwhile.
    const call = asking?.onStreamed === undefined ? asking : undefined
    const exchange = this.#options.exchanges?.begin(call)
    const pending: Pending = {
      method,
      call,
      onStreamed: asking?.onStreamed,
      controller: new AbortController(),
      tag: exchange?.tag,
      bytesBefore: isList(method) ? this.#walks.before(params?.cursor) : 0,
      isSent: false,
    }
    this.#pending.set(id, pending)
    options.requestSignal?.addEventListener('abort', () => this.#forget(id), { once: true })
    if (options.requestSignal?.aborted) this.#forget(id)
    try {
      await this.inner.send(params === undefined ? message : { ...message, params }, {
        ...options,
        ...(exchange !== undefined && { headers: { ...options.headers, ...exchange.headers } }),
        requestSignal: pending.controller.signal,
        onRequestStreamEnd: () => {
          this.#onStreamEnd(id, pending)
          options.onRequestStreamEnd?.()
        },
      })
      pending.isSent = true
    } catch (error) {
      this.#drop(id, pending)
      throw error
    }
  }

  #outgoing({ method, params }: JSONRPCRequest): JSONRPCRequest['params'] {
    // The answers to a task have the server's own keys.
    if (method === 'tasks/update') return params
    return method === 'initialize' ? withoutExtensions(params) : this.#rounds.restore(params)
  }

  /** The client gave up the request: its messages are dropped from now on. */
  #forget(id: unknown): void {
    const pending = this.#pending.get(id as RequestId)
    if (pending === undefined) return
    this.#drop(id as RequestId, pending)
    pending.controller.abort()
  }

  #drop(id: RequestId, pending: Pending): void {
    if (this.#pending.get(id) === pending) this.#pending.delete(id)
    if (pending.tag !== undefined) this.#options.exchanges?.end(pending.tag)
  }

  #fail(id: RequestId, pending: Pending, error: Error): void {
    this.#drop(id, pending)
    this.onmessage?.(toFailure(id, error))
  }

  #onStreamEnd(id: RequestId, pending: Pending): void {
    clearTimeout(this.#lingering.get(pending))
    this.#lingering.delete(pending)
    // The official client handles the end of a subscription.
    if (this.#pending.get(id) !== pending || pending.method === 'subscriptions/listen') return
    const fault = pending.tag === undefined ? undefined : this.#options.exchanges?.faultOf(pending.tag)
    this.#fail(id, pending, fault ?? new Error('the server ended its response before it was complete'))
  }

  #onClose(): void {
    this.hasEnded = true
    this.#unsolicited.stop()
    for (const timer of this.#lingering.values()) clearTimeout(timer)
    this.#lingering.clear()
    const fault = this.hasPerRequestStream ? undefined : (this.#fault ?? this.#options.exchanges?.fault)
    if (fault !== undefined) for (const [id, pending] of this.#pending) this.#fail(id, pending, fault)
    this.onclose?.()
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (!('method' in message)) this.#onAnswer(message, extra)
    else if (!hasFewMembers(message)) this.#unsolicited.onOversized(message)
    else if ('id' in message) this.#unsolicited.onRequest(message, extra)
    else {
      const streamed = this.#listenerOf(message)
      if (streamed === undefined) this.#unsolicited.onNotification(message, extra)
      else streamed(message)
    }
  }

  /** Of the stream of events that the notification is part of. What it brings is limited there: none may be dropped here. */
  #listenerOf({ method, params }: JSONRPCNotification): Call['onStreamed'] {
    if (!method.startsWith(EVENTS)) return undefined
    const id = this.#known(memberOf(params?._meta, SUBSCRIPTION_ID))
    return id === undefined ? undefined : this.#pending.get(id)?.onStreamed
  }

  #onAnswer(
    message: JSONRPCResultResponse | JSONRPCErrorResponse,
    extra: MessageExtraInfo | undefined,
  ): void {
    const id = this.#known(message.id)
    const pending = id === undefined ? undefined : this.#pending.get(id)
    // Too late, or never requested.
    if (id === undefined || pending === undefined) return
    this.#drop(id, pending)
    if (pending.isSent && this.hasPerRequestStream) this.#linger(pending)
    this.onmessage?.('result' in message ? this.#checked(id, pending, message) : message, extra)
  }

  /** The id of a pending request, even if the server turned a number into a string. */
  #known(id: unknown): RequestId | undefined {
    const candidates = typeof id === 'string' && String(Number(id)) === id ? [id, Number(id)] : [id]
    return (candidates as RequestId[]).find((one) => this.#pending.has(one))
  }

  #linger(pending: Pending): void {
    const timer = setTimeout(() => {
      this.#lingering.delete(pending)
      pending.controller.abort()
    }, LINGER_MS)
    this.#lingering.set(pending, timer)
  }

  #checked(id: RequestId, { method, call, bytesBefore }: Pending, message: JSONRPCResultResponse) {
    try {
      const { allowsTasks, isRelay } = this.#options
      if (method === 'tools/call' && isTaskResult(message.result))
        throw readStarted(message.result, allowsTasks && this.#isModern)
      if (!isList(method)) {
        const result = this.#rounds.name(isRelay ? undefined : call, toComplete(method, message.result))
        checkEntries(method, result)
        return { ...message, result }
      }
      this.#walks.add(bytesBefore, message.result)
      const { result, leftOut } = keepWellFormed(method, message.result, this.#isModern ? 'modern' : 'legacy')
      if (leftOut !== undefined) this.#options.report(leftOut, method)
      return { ...message, result }
    } catch (error) {
      return toFailure(id, error)
    }
  }

  /**
   * Finds the call by the stream of the question. A local process is trusted to ask only for running calls. A question on another stream
   * may be for any running call, or for none.
   */
  #findAskers(question: RequestId): Askers | undefined {
    const asker = this.#options.exchanges?.askerOf(question)
    if (asker !== undefined) return { calls: [asker], isCertain: true }
    const calls = [...this.#pending.values()].flatMap(({ call }) => call ?? [])
    return calls.length === 0 ? undefined : { calls, isCertain: 'pid' in this }
  }
}

/** Extensions are not declared to legacy servers, since only modern servers may use them. */
function withoutExtensions(params: JSONRPCRequest['params']): JSONRPCRequest['params'] {
  const { extensions: _extensions, ...capabilities } = (params?.capabilities ?? {}) as { extensions?: object }
  return { ...params, capabilities }
}

/** The extension's own examples answer `tasks/get` like a new task, but the text of the specification says `complete`. */
function toComplete<R extends object>(method: string, result: R): R {
  return method === 'tasks/get' && isTaskResult(result) ? { ...result, resultType: 'complete' } : result
}

function toFailure(id: RequestId, error: unknown): JSONRPCErrorResponse {
  const message = textOf(error)
  return { jsonrpc: '2.0', id, error: { code: FAILED, message, data: error } }
}
