/**
 * The audit trail: who called what, and with which outcome.
 */
import type { AuthInfo } from '../definition/context.ts'
import { callHook, isThenable } from '../definition/hook.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { clip } from '../protocol/describe.ts'
import type { RequestFacts } from '../protocol/engine-options.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { callerAddress } from './forwarded.ts'
import type { LogEntry } from './log.ts'

/** One message, or one refused `POST`, in the audit trail. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string
  readonly requestId: string
  /** The `X-Request-Id` that the client sent, if it is safe to log. */
  readonly clientRequestId?: string
  /** The token's subject, if it has one. */
  readonly subject?: string
  /** The OAuth client that the token was issued to. */
  readonly clientId?: string
  /** Which of `anyOf` knows the caller: `ctx.auth.realm`. */
  readonly realm?: string
  /** The caller's address, as the platform reports it. */
  readonly address?: string
  readonly method?: string
  /** The tool, prompt or URI. */
  readonly target?: string
  /** Default: names only, at most 100: `{ city: '[redacted]' }`. */
  readonly arguments?: unknown
  /** `refused`: not served. `failed`: a JSON-RPC error, a tool error, or the client disconnected (499). */
  readonly outcome: 'done' | 'failed' | 'refused'
  readonly status: number
  /** The JSON-RPC error code. */
  readonly code?: number
  readonly durationMs: number
}

/** The `audit` option of a server. */
export interface AuditOptions {
  /**
   * Called for every message (also in batches, sessions and on stdio) and for every `POST` that was refused before. Errors are
   * reported and change nothing. A promise is not awaited, but passed to the platform's `waitUntil`.
   */
  record(entry: AuditEntry): void
  /** Returns the part of a call's arguments to record, or a promise. Default, and if it fails: only their names. */
  arguments?(target: string | undefined, args: unknown): unknown
}

/** What is known so far. A refused request has no `auth`. */
export interface Seen {
  readonly request: Request
  readonly platform: RequestPlatform
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly waitUntil: (promise: Promise<unknown>) => void
  readonly auth?: AuthInfo | undefined
}

/** What the audit entry contains in addition to the log entry. */
interface AuditFacts {
  readonly auth: AuthInfo | undefined
  readonly address: string | undefined
  /** The recorded part of the arguments. */
  readonly arguments: unknown
  readonly isToolError: boolean
}

/** Statuses that count as refusals, even if a message was read and its error has a code. */
const REFUSED = [401, 403, 404, 408, 413, 415, 429, 431, 503]

/** Maximum argument names in one entry, so that a client cannot fill the trail with invented names. */
const MAX_NAMES = 100

const CLIENT_GONE = 499

/** Errors of the operator's functions are reported, and cannot change the response. */
export function recordAudit(
  audit: AuditOptions,
  entry: LogEntry,
  { request, platform, requestId, waitUntil, auth }: Seen,
  { arguments: args, isToolError = false }: RequestFacts,
  { reportError, trustProxy }: { readonly reportError: ReportError; readonly trustProxy: boolean },
): void {
  const report = (error: unknown): void => reportError(error, { requestId, audit: true })
  const record = (kept: unknown): void => {
    const write = (): unknown => {
      const address = callerAddress(request.headers, platform, trustProxy)
      return audit.record(toAuditEntry(entry, { auth, address, arguments: kept, isToolError }))
    }
    callHook(write, report, waitUntil)
  }
  if (args === undefined || audit.arguments === undefined) {
    record(args === undefined ? undefined : namesOf(args))
    return
  }
  // If the operator's function fails, the entry is still written.
  const decide = (): unknown => {
    const kept = audit.arguments!(entry.target, args)
    return isThenable(kept)
      ? withTimeout(kept, ANSWER_TIMEOUT_MS, 'function "audit.arguments"').then(record)
      : record(kept)
  }
  const fail = (error: unknown): void => {
    report(error)
    record(namesOf(args))
  }
  callHook(decide, fail, waitUntil)
}

function toAuditEntry(
  { time, requestId, clientRequestId, method, target, status, code, durationMs }: LogEntry,
  { auth, address, arguments: args, isToolError }: AuditFacts,
): AuditEntry {
  const subject = auth?.extra?.sub ?? auth?.subject
  return {
    time,
    requestId,
    ...(clientRequestId !== undefined && { clientRequestId }),
    ...(typeof subject === 'string' && { subject }),
    ...(auth !== undefined && { clientId: auth.clientId }),
    ...(auth?.realm !== undefined && { realm: auth.realm }),
    ...(address !== undefined && { address }),
    ...(method !== undefined && { method }),
    ...(target !== undefined && { target }),
    ...(args !== undefined && { arguments: args }),
    outcome: outcomeOf(status, code, isToolError),
    status,
    ...(code !== undefined && { code }),
    durationMs,
  }
}

function outcomeOf(status: number, code: number | undefined, isToolError: boolean): AuditEntry['outcome'] {
  if (REFUSED.includes(status)) return 'refused'
  if (code !== undefined || isToolError || status >= CLIENT_GONE) return 'failed'
  return status >= 400 ? 'refused' : 'done'
}

/** The default for what is recorded of the arguments. */
function namesOf(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return '[redacted]'
  const names = Object.keys(args).slice(0, MAX_NAMES)
  return Object.fromEntries(names.map((name) => [clip(name), '[redacted]']))
}
