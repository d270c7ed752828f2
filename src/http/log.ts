/**
 * Lines about requests and server errors, as JSON objects without secrets: no arguments, results, tokens or query strings.
 */
import type { Era } from '../definition/context.ts'
import { callHook } from '../definition/hook.ts'
import { toJsonLine } from '../definition/json-line.ts'
import { printError, printFault } from '../definition/print-error.ts'
import type { ReportError } from '../request/options.ts'

/** One request in the log. */
export interface LogEntry {
  readonly level: 'info'
  /** ISO 8601. */
  readonly time: string
  /** The server's own id of the request, `ctx.requestId`. */
  readonly requestId: string
  /** The `X-Request-Id` that the client sent, if it is safe to log. */
  readonly clientRequestId?: string
  readonly httpMethod: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  /** The JSON-RPC method, and the tool, prompt or URI that it names. */
  readonly method?: string
  readonly target?: string
  readonly era?: Era
  readonly protocolVersion?: string
  readonly client?: string
  /** The JSON-RPC error code, if the response is an error. */
  readonly code?: number
}

/** Receives the log entries. Its errors are reported and cannot change the response. */
export type Log = (entry: LogEntry) => void

/** The values of the `log` option, besides a function. */
export type LogSetting = 'all' | 'problems' | false

/** Where entries go, and which requests get one. Unused entries are not created. */
export interface LogSink {
  readonly write: Log
  wants(status: number, durationMs: number, record: Outcome, env: unknown): boolean
}

type Outcome = Pick<LogEntry, 'code' | 'method'>

/** Milliseconds from which on a call counts as slow. */
const SLOW_MS = 1000

function isProblem(status: number, durationMs: number, { code, method }: Outcome): boolean {
  // A stream that a client opens to listen is long, not slow.
  const isSlow = durationMs >= SLOW_MS && method !== undefined && method !== 'subscriptions/listen'
  return status >= 400 || code !== undefined || isSlow
}

/** For operators if the server's code does not set it, and for `mayfly dev`. */
function wantsAll(env: unknown): boolean {
  return (env as { MAYFLY_LOG?: unknown } | null | undefined)?.MAYFLY_LOG === 'all'
}

/** Turns the `log` option into a sink; undefined for no log. @throws TypeError for any other value. */
export function toLogSink(log: Log | LogSetting | undefined): LogSink | undefined {
  if (log === false) return undefined
  if (typeof log === 'function') return { write: log, wants: () => true }
  const write: Log = (entry) => console.log(toJsonLine(entry))
  if (log === 'all') return { write, wants: () => true }
  if (log === 'problems') return { write, wants: isProblem }
  if (log === undefined)
    return {
      write,
      wants: (status, durationMs, record, env) => wantsAll(env) || isProblem(status, durationMs, record),
    }
  throw new TypeError('"log" must be a function, "all", "problems" or false.')
}

/** Server errors go to the console with their stack, and to `onError`, which cannot change the response. */
export function createReportError(onError: ReportError | undefined): ReportError {
  return (error, facts) => {
    printError(error, facts)
    if (onError !== undefined)
      callHook(
        () => onError(error, facts),
        (thrown) => printFault('onError threw', thrown),
      )
  }
}
