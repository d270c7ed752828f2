/**
 * The engine for somebody else's server: reads and checks a message as ours does, has a fresh server answer it, and brings the
 * answer to the client as ours would: JSON until there is something to stream, kept alive, ended in time.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { deadlineError, type End, earliestEnd, startTimer } from '../protocol/deadline.ts'
import type { Engine } from '../protocol/engine.ts'
import { META } from '../protocol/envelope.ts'
import { acceptedTypes, Exchange, jsonResponse } from '../protocol/exchange.ts'
import {
  errorMessage,
  type Message,
  parseJson,
  type RpcId,
  readMessage,
  resultMessage,
  toProtocolError,
} from '../protocol/json-rpc.ts'
import type { CallLimits, Incoming } from '../protocol/options.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import { withinLimit } from '../protocol/response-limit.ts'
import { createTraced } from '../protocol/traced.ts'
import type { ReportError } from '../request/options.ts'
import type { Telemetry } from '../request/telemetry.ts'
import { describe, isAnswerTo, noteOutcome, parseSent, shownTo, toCall } from './foreign-call.ts'
import { checkAccess, type GuardedNames } from './guarded.ts'
import type { ForeignAnswer, RunForeign } from './run.ts'

export interface ForeignEngineOptions extends CallLimits {
  readonly reportError: ReportError
  readonly scopes: GuardedNames | undefined
  /** Undefined: nobody watches. */
  readonly telemetry: Telemetry | undefined
}

const LISTEN = 'subscriptions/listen'

type RequestMessage = Message & { readonly kind: 'request' }

export function createForeignEngine(run: RunForeign, options: ForeignEngineOptions): Engine {
  let listening = 0
  const limits = {
    maxDepth: options.maxJsonDepth,
    maxMembers: options.maxJsonMembers,
    maxStringCharacters: options.maxStringCharacters,
  }

  const describeFault = (error: unknown, incoming: Incoming): ProtocolError => {
    if (!(error instanceof ProtocolError)) {
      options.reportError(error, { requestId: incoming.requestId, method: incoming.record.method })
    }
    const shown = toProtocolError(error)
    incoming.record.code = shown.code
    return shown
  }

  const refuse = (error: unknown, id: RpcId | undefined, incoming: Incoming): Response => {
    const shown = describeFault(error, incoming)
    const status = error instanceof ProtocolError ? shown.status : 500
    return jsonResponse(errorMessage(id, shown), status, { ...incoming.headers, ...shown.headers })
  }

  /** Notifications, responses and batches: answered in one piece, as the server answers them. */
  const passOn = async (value: unknown, incoming: Incoming): Promise<Response> => {
    const over = new AbortController()
    const answer = await run(toCall(value, incoming, over.signal, true))
    try {
      const { status, body } = answer.response
      if (body === null || status === 202) return new Response(null, { status, headers: incoming.headers })
      const text = withinLimit(await answer.response.text(), undefined, incoming.platform.maxResponseBytes)
      return jsonResponse(text, status, incoming.headers)
    } finally {
      over.abort()
      await answer.close()
    }
  }

  const serveRequest = (message: RequestMessage, value: unknown, incoming: Incoming): Promise<Response> => {
    const { id, method, params } = message
    checkAccess(method, params, incoming.access, options.scopes)
    const isListen = method === LISTEN
    const { canStream, mustStream } = acceptedTypes(incoming.request.headers.get('accept'))
    const streams = canStream && incoming.platform.canStream !== false
    if (isListen && !streams) return Promise.resolve(jsonResponse(listenEnd(id), 200, incoming.headers))
    if (isListen && listening >= options.maxListenStreams) throw tooManyListeners(options.maxListenStreams)
    if (isListen) listening++

    const over = new AbortController()
    let answer: ForeignAnswer | undefined
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      if (isListen) listening--
      clearTimeout(timer)
      incoming.request.signal.removeEventListener('abort', abandon)
      over.abort()
      void closeQuietly(answer)
    }
    const exchange = new Exchange({
      headers: incoming.headers,
      canStream: streams,
      mustStream,
      streamAfterMs: options.streamAfterMs,
      keepAliveMs: options.keepAliveMs,
      onDisconnect: end,
      onStreamEnd: incoming.onStreamEnd,
    })
    const finish = (text: string, status = 200, headers?: { readonly [name: string]: string }): void => {
      end()
      const isWhole = !exchange.isStreaming && !(streams && mustStream)
      const { maxResponseBytes } = incoming.platform
      exchange.finish(isWhole ? withinLimit(text, id, maxResponseBytes) : text, status, headers)
    }
    const abandon = (): void => exchange.abandon()
    const limit = endOf(incoming, streams, isListen, options)
    const timer = startTimer(limit, options, () => {
      const error = deadlineError(limit)
      if (!isListen) incoming.record.code = error.code
      finish(isListen ? listenEnd(id) : errorMessage(id, error))
    })
    incoming.request.signal.addEventListener('abort', abandon, { once: true })

    const take = (data: string): void => {
      const sent = parseSent(data)
      if (!isAnswerTo(sent, id)) {
        exchange.notify(data)
        return
      }
      noteOutcome(sent, incoming)
      finish(shownTo(sent, data, method, incoming, options.scopes))
    }
    const serve = async (): Promise<void> => {
      const call = toCall(value, incoming, over.signal, !streams)
      answer = await run(call)
      if (isOver) return void (await closeQuietly(answer))
      const { response } = answer
      if (isEventStream(response) && response.body !== null) {
        await readEvents(response.body, take)
        if (!isOver) finish(isListen ? listenEnd(id) : errorMessage(id, NO_ANSWER))
        return
      }
      const text = await response.text()
      const sent = parseSent(text)
      const challenge = response.headers.get('www-authenticate')
      noteOutcome(sent, incoming)
      finish(
        sent === undefined
          ? errorMessage(id, NO_ANSWER)
          : shownTo(sent, text, method, incoming, options.scopes),
        response.status,
        challenge === null ? undefined : { 'www-authenticate': challenge },
      )
    }
    exchange.begin()
    serve().catch((error: unknown) => {
      // What breaks because it was told to stop is no fault.
      if (isOver) return
      const shown = describeFault(error, incoming)
      finish(errorMessage(id, shown), shown.status, shown.headers)
    })
    return exchange.response
  }

  const watched = (message: RequestMessage, value: unknown, incoming: Incoming): Promise<Response> => {
    const serve = async (_message: Message, seen: Incoming) => serveRequest(message, value, seen)
    return options.telemetry === undefined
      ? serveRequest(message, value, incoming)
      : createTraced(options.telemetry, serve)(message, incoming)
  }

  return async (incoming) => {
    let id: RpcId | undefined
    try {
      const value = parseJson(incoming.body, limits)
      if (Array.isArray(value)) {
        incoming.record.method = 'batch'
        for (const one of value) {
          const message = readMessage(one)
          if (message.kind === 'request')
            checkAccess(message.method, message.params, incoming.access, options.scopes)
        }
        // A list in a batch would be shown as it is.
        if (incoming.access !== undefined) throw noBatch()
        return await passOn(value, incoming)
      }
      const message = readMessage(value)
      if (message.kind === 'invalid') {
        id = message.id
        throw new ProtocolError(ErrorCode.invalidRequest, `Invalid request: ${message.reason}.`, undefined, {
          status: 400,
        })
      }
      describe(message, incoming)
      if (message.kind !== 'request') return await passOn(value, incoming)
      id = message.id
      return await watched(message, value, incoming)
    } catch (error) {
      return refuse(error, id, incoming)
    }
  }
}

const NO_ANSWER = { code: ErrorCode.internal, message: 'Internal error: the server gave no answer.' }

function listenEnd(id: RpcId): string {
  return resultMessage(id, `"resultType":"complete","_meta":${JSON.stringify({ [META.subscriptionId]: id })}`)
}

function tooManyListeners(limit: number): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    `This server has ${limit} open subscriptions, which is its limit: try again later.`,
    { limit: 'maxListenStreams' },
    { status: 503 },
  )
}

function noBatch(): ProtocolError {
  const message =
    'Invalid request: this server takes no batches, since it answers each caller with what it may see.'
  return new ProtocolError(ErrorCode.invalidRequest, message, undefined, { status: 400 })
}

/** A subscription has a limit of its own, and ends well. */
function endOf(incoming: Incoming, streams: boolean, isListen: boolean, options: CallLimits): End {
  return earliestEnd(incoming.platform, streams, {
    ...options,
    maxCallMs: isListen ? options.maxListenMs : options.maxCallMs,
  })
}

/** Whether somebody's server closes well is no longer of interest to anybody. */
async function closeQuietly(answer: ForeignAnswer | undefined): Promise<void> {
  try {
    await answer?.close()
  } catch {
    // Nobody is there to be told, and nothing can be done.
  }
}
