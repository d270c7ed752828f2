/**
 * One line per request, and one per fault, as JSON objects without secrets: no arguments, no results, no tokens, no
 * query strings.
 */
import { stackOf, textOf } from '../definition/error-text.ts'
import type { ReportError } from '../request/options.ts'

export interface LogEntry {
  readonly level: 'info'
  /** ISO 8601. */
  readonly time: string
  readonly requestId: string
  readonly httpMethod: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  /** The JSON-RPC method, and the tool, prompt or URI it names. */
  readonly method?: string
  readonly target?: string
  readonly era?: 'modern' | 'legacy'
  readonly protocolVersion?: string
  readonly client?: string
  /** The JSON-RPC error code, where the answer is an error. */
  readonly code?: number
}

export type Log = (entry: LogEntry) => void

export const logToConsole: Log = (entry) => console.log(JSON.stringify(entry))

/** Faults go to the console with their stack, and to `onError`, which cannot change the answer. */
export function createReportError(onError: ReportError | undefined): ReportError {
  return (error, facts) => {
    const message = textOf(error)
    console.error(
      JSON.stringify({
        level: 'error',
        time: new Date().toISOString(),
        ...facts,
        message,
        stack: stackOf(error),
      }),
    )
    try {
      onError?.(error, facts)
    } catch (hookError) {
      console.error(JSON.stringify({ level: 'error', message: `onError threw: ${textOf(hookError)}` }))
    }
  }
}
