/** Passes a notification or a response to a fresh server of another SDK. */
import { deadlineError, earliestEnd, watchCall } from '../protocol/deadline.ts'
import type { CallLimits, Incoming } from '../protocol/engine-options.ts'
import { toFailure } from '../protocol/failure.ts'
import type { UnansweredMessage } from '../protocol/json-rpc.ts'
import { BufferedReply, jsonReply } from '../protocol/reply.ts'
import { withinLimit } from '../protocol/response-limit.ts'
import { CLIENT_GONE } from '../protocol/sse-response.ts'
import type { ReportError } from '../request/options.ts'
import { parseSent, toCall } from './foreign-call.ts'
import type { ForeignMiddleware } from './foreign-middleware.ts'
import type { ListedNames } from './listed-names.ts'
import { closeQuietly, type ForeignAnswer, type RunForeign, unbroken } from './run.ts'
import type { OpenMethods } from './served-methods.ts'

export interface ForeignOptions extends CallLimits, OpenMethods {
  readonly reportError: ReportError
  readonly names: ListedNames
  /** Whether the server may wait for an answer to a question that an earlier request has asked. */
  readonly mayAsk: boolean
  readonly use?: readonly ForeignMiddleware[] | undefined
}

/** The server has the time limit of a call, and is closed when its client disconnects. */
export function forward(
  message: UnansweredMessage,
  incoming: Incoming,
  run: RunForeign,
  options: ForeignOptions,
): Promise<BufferedReply> {
  const over = new AbortController()
  const call = toCall(message, incoming, over.signal, true)
  const limit = earliestEnd(incoming.platform, false, options)
  return new Promise((resolve, reject) => {
    let answer: ForeignAnswer | undefined
    let isOver = false
    const end = (reply: BufferedReply): void => {
      isOver = true
      over.abort()
      void closeQuietly(answer)
      resolve(reply)
    }
    const stop = watchCall(incoming.request.signal, limit, options, {
      onDisconnect: () => end(new BufferedReply(null, CLIENT_GONE, {})),
      onExpire: () => {
        const { message, status } = toFailure(deadlineError(limit), undefined, incoming, options.reportError)
        end(jsonReply(message, status === 200 ? 504 : status, incoming.headers))
      },
    })
    const serve = async (): Promise<void> => {
      if (isOver) return
      answer = await run(call)
      if (isOver) return closeQuietly(answer)
      const { ok, status, body } = answer.response
      const text = body === null || status === 202 ? '' : await unbroken(answer, answer.response.text())
      if (isOver) return
      const { headers, platform } = incoming
      // Only a refusal has a body: a result would be one that nobody has checked.
      end(
        ok || parseSent(text)?.error === undefined
          ? new BufferedReply(null, ok ? 202 : status, headers)
          : jsonReply(withinLimit(text, undefined, platform.maxResponseBytes), status, headers),
      )
    }
    const fail = (error: unknown): void => {
      // Errors after the call was stopped are ignored.
      if (isOver) return
      over.abort()
      void closeQuietly(answer)
      reject(error)
    }
    serve().catch(fail).finally(stop)
  })
}
