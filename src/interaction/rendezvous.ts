/**
 * The rendezvous: delivers an answer to the call that waits for it. The question was sent on that call's stream, and the client posts the
 * answer in another request. Legacy era only; modern clients send the answer with the repeated call.
 */
import { MAX_TIMER_MS } from '../definition/timeout.ts'

/** The prefix of the ids of our questions; the rest is random. */
export const QUESTION_ID = 'mayfly-'

/** The key under which an answer is delivered. It includes the principal, so another principal's answer does not match. */
export function rendezvousKey(id: string, principal: string): string {
  return `${id} ${principal}`
}

/** A wait for an answer. */
export interface Awaited {
  /** The delivered answer; undefined at the deadline, or when the call is aborted. Never rejects. */
  readonly answer: Promise<unknown>
}

/** Passes one answer from the request that receives it to the one that waits. Keys are unguessable and used once. */
export interface Rendezvous {
  /**
   * Resolves once an answer to `key` could be delivered; the question is sent only then. The wait ends at `deadline`
   * (milliseconds since the epoch) or when `signal` aborts.
   */
  wait(key: string, deadline: number, signal: AbortSignal): Promise<Awaited>
  /** Delivers an answer. Drops an answer that no call waits for (a second or late one, or one of another principal). */
  deliver(key: string, answer: unknown): void | Promise<void>
}

/** Creates a wait that ends at the deadline or when the signal aborts. `settle` ends it with an answer. */
export function createWait(
  deadline: number,
  signal: AbortSignal,
  onEnd: () => void,
): Awaited & { readonly settle: (answer: unknown) => void } {
  const { promise, resolve } = withResolvers()
  const settle = (answer: unknown): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    resolve(answer)
    onEnd()
  }
  const giveUp = (): void => settle(undefined)
  const timer = setTimeout(giveUp, Math.min(MAX_TIMER_MS, Math.max(0, deadline - Date.now())))
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  return { answer: promise, settle }
}

/** Creates a rendezvous within one process or isolate. For several, use one on a shared store. */
export function createMemoryRendezvous(): Rendezvous {
  const waiting = new Map<string, (answer: unknown) => void>()
  return {
    async wait(key, deadline, signal) {
      const wait = createWait(deadline, signal, () => waiting.delete(key))
      if (!signal.aborted) waiting.set(key, wait.settle)
      return wait
    },
    deliver(key, answer) {
      waiting.get(key)?.(answer)
    },
  }
}

function withResolvers(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve!: (value: unknown) => void
  const promise = new Promise<unknown>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
