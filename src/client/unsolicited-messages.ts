/** Unsolicited requests and notifications of a server: limits how many are passed on, and reports dropped ones once. */
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
} from '@modelcontextprotocol/client'
import type { Askers } from './call.ts'
import { coalesce } from './coalesce.ts'
import { MAX_URI_LENGTH } from './lists.ts'
import { printable } from './printable.ts'
import { createRate } from './rate.ts'

export interface UnsolicitedHost {
  pass(message: JSONRPCMessage, extra?: MessageExtraInfo): void
  /** The calls that a request may belong to. */
  findAskers(request: RequestId): Askers | undefined
  /** Whether this is the progress token of a running call. */
  isUnderWay(progressToken: unknown): boolean
  /** Called with a description of what is dropped. */
  report(what: string): void
}

/** Maximum requests that are answered at the same time. */
const MAX_ANSWERING = 16
const REQUESTS = { burst: 64, perSecond: 8 } as const
const NOTIFICATIONS = { burst: 1000, perSecond: 200 } as const
/** Minimum milliseconds between two notifications of the same change. */
const CHANGE_EVERY_MS = 500

export class UnsolicitedMessages {
  /** False since MCP 2026-07-28, in which servers send no requests. */
  mayRequest = true
  readonly #host: UnsolicitedHost
  /** Requests that are being answered. */
  readonly #answering = new Map<RequestId, Askers | undefined>()
  readonly #changes = coalesce<JSONRPCNotification>(CHANGE_EVERY_MS, (change) => this.#host.pass(change))
  readonly #mayAsk = createRate(REQUESTS.burst, REQUESTS.perSecond)
  readonly #mayNotify = createRate(NOTIFICATIONS.burst, NOTIFICATIONS.perSecond)
  readonly #reported = new Set<string>()

  constructor(host: UnsolicitedHost) {
    this.#host = host
  }

  onRequest(message: JSONRPCRequest, extra: MessageExtraInfo | undefined): void {
    const { id } = message
    if (!this.mayRequest) this.#drop('requests, which its protocol version does not allow')
    else if (this.#answering.has(id) || this.#answering.size >= MAX_ANSWERING || !this.#mayAsk())
      this.#drop('more requests than can be answered')
    else {
      this.#answering.set(id, this.#host.findAskers(id))
      this.#host.pass(message, extra)
    }
  }

  onNotification(message: JSONRPCNotification, extra: MessageExtraInfo | undefined): void {
    const { method, params } = message
    if (method === 'notifications/cancelled') this.#answering.delete(params?.requestId as RequestId)
    if (method === 'notifications/progress' && !this.#host.isUnderWay(params?.progressToken)) return
    // These are limited separately, since the last change must always be passed on.
    if (/_changed$|\/updated$/.test(method)) this.#onChange(method, params?.uri)
    else if (this.#mayNotify()) this.#host.pass(message, extra)
    else this.#drop('more notifications than can be handled')
  }

  onOversized({ method }: JSONRPCRequest | JSONRPCNotification): void {
    this.#drop(`"${printable(method, 60)}" with more members than can be checked`)
  }

  askersOf(request: RequestId): Askers | undefined {
    return this.#answering.get(request)
  }

  answered(request: RequestId | undefined): void {
    if (request !== undefined) this.#answering.delete(request)
  }

  /** Requests from before the handshake were never answered, so they are dropped. */
  begin(): void {
    this.#answering.clear()
  }

  stop(): void {
    this.#changes.stop()
  }

  /** Only the known members are queued, since the rest could be large. */
  #onChange(method: string, uri: unknown): void {
    if (typeof uri !== 'string') this.#changes.add(method, { jsonrpc: '2.0', method })
    else if (uri.length <= MAX_URI_LENGTH) {
      this.#changes.add(`${method} ${uri}`, { jsonrpc: '2.0', method, params: { uri } })
    }
  }

  #drop(what: string): void {
    if (this.#reported.has(what)) return
    this.#reported.add(what)
    this.#host.report(`sends ${what}: they are dropped`)
  }
}
