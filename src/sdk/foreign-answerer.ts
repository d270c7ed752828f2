/**
 * The answerer for a server of another SDK. A fresh server answers each message, and the answer is delivered like that of an `MCPServer`:
 * as JSON until there is something to stream, with keep-alives, and within the time limit. The engine handles everything else.
 */
import type { Era } from '../definition/context.ts'
import { isA } from '../definition/error-text.ts'
import { toMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { canStream } from '../protocol/conditions.ts'
import type { Answerer } from '../protocol/engine.ts'
import type { CallLimits, Incoming } from '../protocol/engine-options.ts'
import { META } from '../protocol/envelope.ts'
import { type RequestMessage, type RpcId, resultMessage } from '../protocol/json-rpc.ts'
import { createListenPlaces } from '../protocol/listen-places.ts'
import { jsonReply } from '../protocol/reply.ts'
import { expiryOf } from '../protocol/stream-expiry.ts'
import { ForeignRequest } from './foreign-request.ts'
import { type ForeignOptions, forward } from './forward.ts'
import { checkAccess, hiddenName } from './guarded.ts'
import type { RunForeign } from './run.ts'
import { isServed } from './served-methods.ts'

const LISTEN = 'subscriptions/listen'
const NOTIFICATION = 'notifications/'

export function createForeignAnswerer(run: RunForeign, options: ForeignOptions): Answerer {
  const streams = new Set<ForeignListen>()
  const places = createListenPlaces(options)
  return {
    modernVersions: undefined,
    // Each message creates a new server.
    runs: () => true,
    answer(message, incoming) {
      incoming.facts.isListed = () => options.names.has(message.method, message.params.name)
      checkAccess(message.method, message.params, incoming.access, options.scopes)
      if (!isServed(message.method, options)) {
        throw (
          hiddenName(message.method, message.params, incoming.access, options.scopes) ??
          notServed(message.method, incoming.era)
        )
      }
      if (message.method !== LISTEN) return new ForeignRequest(message, incoming, run, options).answer()
      if (!canStream(incoming)) return jsonReply(listenEnd(message.id), 200, incoming.headers)
      const giveBack = places.take(urisOf(message), incoming, () => stream.finishWithResult())
      // Clients end a subscription by disconnecting, so this is a success.
      const listening = { ...incoming, onStreamEnd: () => incoming.onStreamEnd(200) }
      const stream = new ForeignListen(message, listening, run, options, () => {
        giveBack()
        streams.delete(stream)
      })
      streams.add(stream)
      return stream.answer()
    },
    // What is not forwarded is acknowledged, and dropped: nobody waits for an answer.
    accept(message, incoming) {
      if (message.kind === 'response') {
        const { access } = incoming
        const mayBeAsked = options.mayAsk && (access === undefined || access.isKnown)
        return mayBeAsked ? forward(message, incoming, run, options) : undefined
      }
      const { method, params } = message
      try {
        checkAccess(method, params, incoming.access, options.scopes)
      } catch (error) {
        // The others refuse the HTTP request.
        if (isA(error, ProtocolError) && error.status === 200) return undefined
        throw error
      }
      // A handler may answer a request that has no id: past the middleware, and with all that lists leave out.
      return method.startsWith(NOTIFICATION) && isServed(method, options)
        ? forward(message, incoming, run, options)
        : undefined
    },
    close() {
      for (const stream of streams) stream.finishWithResult()
    },
  }
}

function notServed(method: string, era: Era): ProtocolError {
  return new ProtocolError(
    ErrorCode.methodNotFound,
    `Method not found: ${method}. If the server has it, its operator must name it in "methods" of fromSdk or fromNode.`,
    undefined,
    era === 'modern' ? { status: 404 } : {},
  )
}

/** A `subscriptions/listen` stream, which has its own limit and ends with its result. */
class ForeignListen extends ForeignRequest {
  readonly #onEnd: () => void

  constructor(
    message: RequestMessage,
    incoming: Incoming,
    run: RunForeign,
    options: ForeignOptions,
    onEnd: () => void,
  ) {
    super(message, incoming, run, options)
    this.#onEnd = onEnd
  }

  finishWithResult(): void {
    this.finish(this.withoutAnswer())
  }

  protected override limits(limits: CallLimits): CallLimits {
    const leftMs = expiryOf(this.incoming) - Date.now()
    // 0 would mean no limit.
    return { ...limits, maxCallMs: Math.max(1, Math.min(limits.maxListenMs, leftMs)) }
  }

  protected override expire(): void {
    this.finishWithResult()
  }

  protected override withoutAnswer(): string {
    return listenEnd(this.message.id)
  }

  protected override ended(): void {
    this.#onEnd()
  }
}

/** The URIs in a client's filter, if any. The server itself checks the filter. */
function urisOf({ params }: RequestMessage): readonly string[] {
  const { resourceSubscriptions: uris } = (params.notifications ?? {}) as { resourceSubscriptions?: unknown }
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

function listenEnd(id: RpcId): string {
  return resultMessage(id, toMembers({ resultType: 'complete', _meta: { [META.subscriptionId]: id } }))
}
