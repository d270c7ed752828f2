/**
 * Requests without a message: the page, the health check, OAuth metadata and preflights. The guard runs before all of them except the
 * health check.
 */
import { isA } from '../definition/error-text.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { BufferedReply } from '../protocol/reply.ts'
import { CLIENT_GONE } from '../protocol/sse-response.ts'
import type { ReportError } from '../request/options.ts'
import type { Received } from './admission.ts'
import { preflightResponse } from './preflight.ts'
import { createTlsWatch } from './public-url.ts'
import { refusal } from './refusal.ts'
import { refuseTraffic } from './refusals.ts'
import {
  healthResponse,
  metadataResponse,
  methodsOf,
  notServed,
  pageResponse,
  type RouteOptions,
  type ServerDescription,
  wantsPage,
} from './routes.ts'
import type { Traffic } from './traffic.ts'

export type AnswerOtherMethod = (received: Received) => BufferedReply | Promise<BufferedReply>

/** What it shares with the requests that have a message. */
export interface SharedChecks {
  /** What limits calls, if anything does. */
  traffic(): Traffic | undefined | Promise<Traffic | undefined>
  guard(received: Received): BufferedReply | Promise<BufferedReply> | undefined
  fail(error: unknown, received: Received): BufferedReply
}

/** Answers any request other than POST. */
export function createOtherMethods(
  description: ServerDescription,
  options: RouteOptions & { readonly reportError: ReportError },
  shared: SharedChecks,
): AnswerOtherMethod {
  const showPage = async (received: Received): Promise<BufferedReply> => {
    const { request, platform, headers } = received
    const traffic = await shared.traffic()
    if (traffic?.counts(platform.env)) {
      const overRate = await traffic.count({ request, platform, auth: undefined })
      if (overRate !== undefined) return refuseTraffic(overRate, headers)
    }
    // Rendering the page may run the server's `setup`, so it counts as a call.
    const entered = traffic?.enter({ auth: undefined, platform, request })
    if (typeof entered === 'object') return refuseTraffic(entered, headers)
    try {
      return await pageResponse(received, description, options)
    } catch (error) {
      if (request.signal.aborted) return new BufferedReply(null, CLIENT_GONE, {})
      if (isA(error, ProtocolError)) return refusal(504, error.message, headers, error.code)
      return shared.fail(error, received)
    } finally {
      entered?.()
    }
  }

  const watchTls = createTlsWatch((error) => options.reportError(error, { auth: true }))

  const get: AnswerOtherMethod = (received) => {
    const open = healthResponse(received, options) ?? metadataResponse(received, options, watchTls)
    if (open !== undefined) return open
    return wantsPage(received, options) ? showPage(received) : notServed(received, options)
  }

  return (received) => {
    const { method, headers } = received.request
    // A web page sends an Origin and is checked like any other request.
    const isProbe = !headers.has('origin')
    const early = isProbe ? healthResponse(received, options) : undefined
    const answered = early ?? shared.guard(received)
    if (answered !== undefined) return answered
    if (method === 'OPTIONS') return preflightResponse(received.request, methodsOf(options))
    return method === 'GET' || method === 'HEAD' ? get(received) : notServed(received, options)
  }
}
