/**
 * What to do where a transport fails, or never answers: wait no longer than agreed, and say so.
 */
import { cut, textOf } from '../definition/error-text.ts'
import { callHook } from '../definition/hook.ts'

/** Milliseconds that a bus has to take an event, or a subscription. */
export const BUS_TIMEOUT_MS = 5000

/** What a transport says may be as long as it likes. */
const MAX_MESSAGE_CHARACTERS = 1000

/** Options of everything that is built on a transport. */
export interface OutageOptions {
  /** Milliseconds after which what does not answer counts as down. Default 2000. */
  readonly timeoutMs?: number
  /** Told of faults that no caller hears of. Default: a line on the console. */
  readonly onError?: (error: unknown) => void
}

export type Report = (error: unknown) => void

/** @param what is named in the line on the console. */
export function toReport({ onError }: OutageOptions, what: string): Report {
  const print: Report = (error) =>
    console.error(
      JSON.stringify({ level: 'error', message: `${what}: ${cut(textOf(error), MAX_MESSAGE_CHARACTERS)}` }),
    )
  return onError === undefined ? print : (error) => callHook(() => onError(error), print)
}

/**
 * What `work` resolves to.
 *
 * @throws Error `The <what> did not answer within <timeoutMs> ms.`, and what `work` rejects with.
 */
export async function within<Value>(
  work: Value | PromiseLike<Value>,
  timeoutMs: number,
  what: string,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The ${what} did not answer within ${timeoutMs} ms.`)),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
