/**
 * Writes the log and the audit trail: an entry for each message, and one for each request that contained no message.
 */
import { callHook } from '../definition/hook.ts'
import { withPart } from '../definition/part.ts'
import { clip, fillRecord } from '../protocol/describe.ts'
import type { Extent, Incoming, RequestFacts, RequestRecord } from '../protocol/engine-options.ts'
import type { ReportError } from '../request/options.ts'
import { pathOf } from '../request/request-url.ts'
import type { AuditOptions, Seen } from './audit.ts'
import { loadAudit } from './load-audit.ts'
import type { LogEntry, LogSink } from './log.ts'
import { sentRequestId } from './request-id.ts'

export interface RecorderOptions {
  readonly log: LogSink | undefined
  readonly audit: AuditOptions | undefined
  readonly trustProxy: boolean
  readonly reportError: ReportError
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

  const write = (
    seen: Seen | Incoming,
    record: RequestRecord,
    facts: RequestFacts,
    status: number,
    to: Sinks,
  ): void => {
    const { request, platform, requestId, startedAt } = seen
    const durationMs = Date.now() - startedAt
    const outcome = isTried(request, status) ? 200 : status
    const isLogged = to.log?.wants(outcome, durationMs, record, platform.env) === true
    if (!isLogged && to.audit === undefined) return
    if ('message' in seen) fillRecord(seen)
    const clientRequestId = sentRequestId(request.headers.get('x-request-id'))
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
    tryTo('audit', seen, () =>
      withPart(loadAudit, ({ recordAudit }) =>
        recordAudit(to.audit!, entry, seen, facts, { reportError, trustProxy }),
      ),
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

/** Legacy clients open a stream and end their session wherever they connect: that a server has neither, only a 405 tells them. */
function isTried({ method, headers }: Seen['request'], status: number): boolean {
  return status === 405 && (method === 'GET' || method === 'DELETE') && headers.has('mcp-protocol-version')
}

interface Sinks {
  readonly log: LogSink | undefined
  readonly audit: AuditOptions | undefined
}
