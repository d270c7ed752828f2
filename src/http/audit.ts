/**
 * The audit trail: who called what, and what came of it.
 */
import type { AuthInfo } from '../definition/context.ts'
import { clip } from '../protocol/describe.ts'
import type { LogEntry } from './log.ts'

export interface AuditEntry {
  /** ISO 8601. */
  readonly time: string
  readonly requestId: string
  /** The token's subject, where it has one. */
  readonly subject?: string
  /** The client that the token was issued to. */
  readonly clientId?: string
  /** As the platform vouches for it. */
  readonly address?: string
  readonly method?: string
  /** The tool, prompt or URI. */
  readonly target?: string
  /** By default their names alone, a hundred at most: `{ city: '[redacted]' }`. */
  readonly arguments?: unknown
  /** `refused`: not served at all. `failed`: a JSON-RPC error, or a tool's own, or the client went away (499). */
  readonly outcome: 'done' | 'failed' | 'refused'
  readonly status: number
  /** The JSON-RPC error code. */
  readonly code?: number
  readonly durationMs: number
}

export interface AuditOptions {
  /**
   * Told of every message, each one of a batch, in a session or on stdio included, and of every `POST` that was refused before. What it
   * throws or rejects with is reported and changes nothing; a promise is not awaited, but passed to the platform's `waitUntil`.
   */
  record(entry: AuditEntry): void
  /** What of a call's arguments is kept, or a promise of it. Default, and where it fails: their names. */
  arguments?(target: string | undefined, args: unknown): unknown
}

/** What is known of a caller and a call besides the log's entry. */
export interface AuditFacts {
  readonly auth: AuthInfo | undefined
  readonly address: string | undefined
  /** What is kept of them. */
  readonly arguments: unknown
  readonly isToolError: boolean
}

/** Even where a message was read, and its error has a code. */
const REFUSED = [401, 403, 404, 408, 413, 415, 429, 431, 503]

/** Names of arguments in one entry: a client must not fill the trail with what it made up. */
const MAX_NAMES = 100

const CLIENT_GONE = 499

export function toAuditEntry(
  { time, requestId, method, target, status, code, durationMs }: LogEntry,
  { auth, address, arguments: args, isToolError }: AuditFacts,
): AuditEntry {
  const subject = auth?.extra?.sub
  return {
    time,
    requestId,
    ...(typeof subject === 'string' && { subject }),
    ...(auth !== undefined && { clientId: auth.clientId }),
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

/** What is kept of arguments unless the operator says otherwise. */
export function namesOf(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return '[redacted]'
  const names = Object.keys(args).slice(0, MAX_NAMES)
  return Object.fromEntries(names.map((name) => [clip(name), '[redacted]']))
}
