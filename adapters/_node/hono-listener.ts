/** What is used of `@hono/node-server`. Loaded when the first listener is created: most of the time of an import was its own. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { isA } from '../../src/definition/error-text.ts'
import { printError } from '../../src/definition/print-error.ts'
import { invalidTarget } from '../../src/http/refusal.ts'
import { toResponse } from '../../src/protocol/reply.ts'
import { send } from './buffered-response.ts'

export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** `request` is a substitute that `new Request(it)` refuses. The response may be one that `respond` created. */
export type Serve = (request: Request, exchange: Exchange) => Promise<Response>

export type Listen = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

export function createHonoListener(serve: Serve): Listen {
  const listen = getRequestListener(
    async (request, bindings) => {
      const exchange = bindings as Exchange
      const response = await serve(request, exchange)
      return send(response, exchange.outgoing) ? RESPONSE_ALREADY_SENT : response
    },
    { overrideGlobalObjects: false, errorHandler: errorResponse },
  )
  return listen as Listen
}

function errorResponse(error: unknown): Response {
  if (isA(error, RequestError)) return toResponse(invalidTarget({}))
  printError(error)
  return new Response(null, { status: 500 })
}
