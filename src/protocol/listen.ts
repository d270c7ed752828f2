/**
 * `subscriptions/listen`: a stream that is acknowledged first, delivers what the bus brings and passes the filter, and
 * ends with a result before the platform would cut it (MCP 2026-07-28, "Subscriptions").
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { honoured, parseFilter, subscribe, toNotification } from '../events/subscription.ts'
import { advertise } from '../interaction/matrix.ts'
import { mayRead } from '../request/resources.ts'
import type { Call } from './answer.ts'
import { META } from './envelope.ts'
import { acceptedTypes, jsonResponse, SSE_HEADERS, sseEvent } from './exchange.ts'
import { notificationMessage, resultMessage } from './json-rpc.ts'
import type { EngineOptions, Incoming } from './options.ts'

export type ServeListen = (call: Call, incoming: Incoming) => Response | Promise<Response>

export function createListen(options: EngineOptions): ServeListen {
  const { definition, bus, keepAliveMs } = options
  let open = 0

  return async (call, incoming) => {
    const { id } = call
    const meta = { [META.subscriptionId]: id }
    const canStream =
      acceptedTypes(incoming.request.headers.get('accept')).canStream && incoming.platform.canStream !== false
    const capabilities = advertise(definition, {
      ...call,
      canStream,
      hasBus: bus !== undefined,
      hasSecret: false,
      hasRendezvous: false,
      hasSession: false,
      legacyPolicy: options.asking.legacyPolicy,
    })
    const filter = honoured(parseFilter(call.params.notifications), capabilities)
    if (filter.resourceSubscriptions !== undefined) {
      filter.resourceSubscriptions = filter.resourceSubscriptions.filter((uri) =>
        mayRead(definition.resources, incoming.access, uri),
      )
    }
    const acknowledged = sseEvent(
      notificationMessage('notifications/subscriptions/acknowledged', { notifications: filter, _meta: meta }),
    )
    const ended = resultMessage(
      id,
      `"resultType":"complete","_meta":${JSON.stringify({ ...meta, [META.serverInfo]: definition.serverInfo })}`,
    )
    if (!canStream) return jsonResponse(ended, 200, incoming.headers)
    const headers = { ...incoming.headers, ...SSE_HEADERS }
    if (bus === undefined || Object.keys(filter).length === 0) {
      incoming.onStreamEnd()
      return new Response(acknowledged + sseEvent(ended), { headers })
    }
    if (open >= options.maxListenStreams) throw tooMany(options.maxListenStreams)
    // Counted while it subscribes, or many at once would pass the limit.
    open++
    const subscription = await subscribe(bus, filter).catch((error: unknown) => {
      open--
      throw error
    })
    let isOpen = true
    const close = (): void => {
      if (!isOpen) return
      isOpen = false
      open--
      subscription.close()
      incoming.onStreamEnd()
    }
    const { signal } = incoming.request
    if (signal.aborted) close()
    else signal.addEventListener('abort', close, { once: true })
    const endsAt = Math.min(
      Date.now() + options.maxListenMs,
      (incoming.platform.deadline ?? Number.POSITIVE_INFINITY) - options.deadlineMarginMs,
    )
    const encoder = new TextEncoder()
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(encoder.encode(acknowledged)),
        // Pulled, never pushed: each event is written in the request that listens, whoever published it.
        async pull(controller) {
          const waitMs = Math.max(0, Math.min(keepAliveMs, endsAt - Date.now()))
          const event = isOpen ? await subscription.next(waitMs) : undefined
          if (!isOpen) {
            controller.close()
          } else if (event !== undefined) {
            const { method, params } = toNotification(event)
            controller.enqueue(
              encoder.encode(sseEvent(notificationMessage(method, { ...params, _meta: meta }))),
            )
          } else if (Date.now() >= endsAt) {
            controller.enqueue(encoder.encode(sseEvent(ended)))
            close()
            controller.close()
          } else {
            controller.enqueue(encoder.encode(': keep-alive\n\n'))
          }
        },
        cancel: close,
      }),
      { headers },
    )
  }
}

function tooMany(limit: number): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    `This server has ${limit} open subscriptions, which is its limit: try again later.`,
    { limit: 'maxListenStreams' },
    { status: 503 },
  )
}
