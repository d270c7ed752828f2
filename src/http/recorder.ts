/**
 * Writes the log and the audit trail: an entry for each message, and one for each request that contained no message.
 */
import type { AuthInfo } from '../definition/context.ts'
import { callHook, isThenable } from '../definition/hook.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { clip } from '../protocol/describe.ts'
import type { Extent, Incoming, RequestFacts, RequestRecord } from '../protocol/engine-options.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { pathOf } from '../request/request-url.ts'
import { type AuditOptions, namesOf, toAuditEntry } from './audit.ts'
import type { LogEntry, LogSink } from './log.ts'
import { callerAddress } from './public-url.ts'
import { sentRequestId } from './request-id.ts'

export interface RecorderOptions {
  readonly log: LogSink | undefined
  readonly audit: AuditOptions | undefined
  readonly trustProxy: boolean
  readonly reportError: ReportError
}

/** What is known so far. A refused request has no `auth`. */
interface Seen {
  readonly request: Request
  readonly platform: RequestPlatform
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly auth?: AuthInfo | undefined
}

export interface Recorder {
  message(message: Incoming, status: number, extent: Extent): void
  /** Records a request that ended before a message was read. */
  request(seen: Seen, status: number): void
}

const NOTHING: RequestFacts = Object.freeze({})

/** Errors of `log` and `audit` are reported and cannot change the response. */
export function createRecorder({ log, audit, reportError, trustProxy }: RecorderOptions): Recorder {
  const tryTo = (what: 'log' | 'audit', { requestId, waitUntil }: Seen, write: () => unknown): void =>
    callHook(write, (error) => reportError(error, { requestId, [what]: true }), waitUntil)

  /** Records the arguments as returned by the operator's function. If the function fails, the entry is still written. */
  const keep = (
    args: unknown,
    target: string | undefined,
    seen: Seen,
    then: (kept: unknown) => void,
  ): void => {
    if (args === undefined || audit?.arguments === undefined) {
      then(args === undefined ? undefined : namesOf(args))
      return
    }
    const decide = (): unknown => {
      const kept = audit.arguments!(target, args)
      return isThenable(kept)
        ? withTimeout(kept, ANSWER_TIMEOUT_MS, 'function "audit.arguments"').then(then)
        : then(kept)
    }
    const fail = (error: unknown): void => {
      reportError(error, { requestId: seen.requestId, audit: true })
      then(namesOf(args))
    }
    callHook(decide, fail, seen.waitUntil)
  }

  const write = (seen: Seen, record: RequestRecord, facts: RequestFacts, status: number, to: Sinks): void => {
    const { request, platform, requestId, startedAt, auth } = seen
    const durationMs = Date.now() - startedAt
    const isLogged = to.log?.wants(status, durationMs, record, platform.env) === true
    if (!isLogged && to.audit === undefined) return
    const clientRequestId = sentRequestId(request)
    const entry: LogEntry = {
      level: 'info',
      time: new Date().toISOString(),
      requestId,
      ...(clientRequestId !== undefined && { clientRequestId }),
      httpMethod: request.method,
      path: clip(pathOf(request)),
      status,
      durationMs,
      ...record,
    }
    if (isLogged) tryTo('log', seen, () => to.log!.write(entry))
    if (to.audit === undefined) return
    const { arguments: args, isToolError = false } = facts
    keep(args, entry.target, seen, (kept) =>
      tryTo('audit', seen, () => {
        const address = callerAddress(request.headers, platform, trustProxy)
        return to.audit!.record(toAuditEntry(entry, { auth, address, arguments: kept, isToolError }))
      }),
    )
  }

  return {
    message(message, status, extent) {
      if (log === undefined && audit === undefined) return
      const to = {
        // On stdio, log lines would mix with the messages to the client.
        log: extent === 'part' || !message.isHttp ? undefined : log,
        audit: extent === 'batch' ? undefined : audit,
      }
      write(message, message.record, message.facts, status, to)
    },
    request(seen, status) {
      // The page and the health check are not calls, so they are not audited.
      const to = { log, audit: seen.request.method === 'POST' ? audit : undefined }
      const record = seen.auth === undefined ? {} : { clientId: seen.auth.clientId }
      write(seen, record, NOTHING, status, to)
    },
  }
}

interface Sinks {
  readonly log: LogSink | undefined
  readonly audit: AuditOptions | undefined
}
