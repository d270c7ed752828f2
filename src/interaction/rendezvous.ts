/**
 * The rendezvous: where the answer to a question asked on one request's stream, posted by the client in another request,
 * meets the call that waits for it. Legacy era only; modern clients bring the answer along.
 */

/** Carries one answer from the request that receives it to the one that waits. Keys are unguessable and used once. */
export interface Rendezvous {
  /**
   * Resolves with what is delivered under `key`, or with undefined at `deadline` (milliseconds since the epoch) or when
   * `signal` aborts. Whoever waits, waits before the question is sent.
   */
  wait(key: string, deadline: number, signal: AbortSignal): Promise<unknown>
  /** Delivers an answer. Where nobody waits (a second, late or foreign answer) it is dropped. */
  deliver(key: string, answer: unknown): void | Promise<void>
}

/** A rendezvous within one process or isolate. */
export function createMemoryRendezvous(): Rendezvous {
  const waiting = new Map<string, (answer: unknown) => void>()
  return {
    wait(key, deadline, signal) {
      return new Promise((resolve) => {
        const settle = (answer: unknown): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(key)
          resolve(answer)
        }
        const giveUp = (): void => settle(undefined)
        const timer = setTimeout(giveUp, Math.max(0, deadline - Date.now()))
        waiting.set(key, settle)
        signal.addEventListener('abort', giveUp, { once: true })
        if (signal.aborted) giveUp()
      })
    },
    deliver(key, answer) {
      waiting.get(key)?.(answer)
    },
  }
}
