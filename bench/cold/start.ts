/** What one cold start is told, and what it reports. */
import { isDeepStrictEqual } from 'node:util'
import { CALL_ARGUMENTS, type RequestTemplate } from '../requests.ts'

export interface Start {
  /** The file that serves. */
  readonly bundle: string
  /** A call of its last tool. */
  readonly template: RequestTemplate
}

export interface ColdSample {
  readonly firstAnswerMs: number
  /** Of the processor's time until then, of all threads. */
  readonly cpuMs: number
}

/** @throws Error unless the answer of the first call is right. */
export function expectFirstAnswer(bundle: string, status: number, text: string): void {
  const { result } = JSON.parse(text) as { result?: { content?: unknown } }
  if (status === 200 && isDeepStrictEqual(result?.content, [{ type: 'text', text: CALL_ARGUMENTS.text }]))
    return
  throw new Error(`A wrong first answer from ${bundle}, status ${status}: ${text.slice(0, 400)}`)
}
