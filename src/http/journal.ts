/**
 * What is written down of a request once it is over: a log entry, and one of the audit trail.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { RequestFacts, RequestRecord } from '../protocol/options.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { type AuditOptions, toAuditEntry } from './audit.ts'
import type { Log, LogEntry } from './log.ts'
import { callerAddress } from './public-url.ts'

export interface JournalOptions {
  readonly log: Log | undefined
  readonly audit: AuditOptions | undefined
  readonly trustProxy: boolean
  readonly reportError: ReportError
}

export interface Served {
  readonly request: Request
  readonly platform: RequestPlatform
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly record: RequestRecord
  readonly facts: RequestFacts & { auth?: AuthInfo }
}

/** Whoever reads what is written cannot change the answer: what they throw is reported. */
export function createJournal(options: JournalOptions): (served: Served, status: number) => void {
  const { log, audit, reportError, trustProxy } = options
  const tryTo = (what: 'log' | 'audit', requestId: string, write: () => void): void => {
    try {
      write()
    } catch (error) {
      reportError(error, { requestId, [what]: true })
    }
  }

  return ({ request, platform, requestId, startedAt, record, facts }, status) => {
    if (log === undefined && audit === undefined) return
    const entry: LogEntry = {
      level: 'info',
      time: new Date().toISOString(),
      requestId,
      httpMethod: request.method,
      path: new URL(request.url).pathname,
      status,
      durationMs: Date.now() - startedAt,
      ...record,
    }
    tryTo('log', requestId, () => log?.(entry))
    // A page or a pulse is nobody's call.
    if (audit === undefined || (entry.method === undefined && request.method !== 'POST')) return
    tryTo('audit', requestId, () => {
      const { auth, arguments: args, isToolError = false } = facts
      const address = callerAddress(request.headers, platform, trustProxy)
      audit.record(toAuditEntry(entry, { auth, address, arguments: args, isToolError }, audit))
    })
  }
}
