/** Requests that a runtime is told to send, and what they end in: for a script of any runtime. */
import type { EventSender, PostOutcome } from '../../../../src/mcp-events/contract.ts'

export interface Task {
  /** By `fetch`, or by the sender that checks addresses. */
  readonly by: 'fetch' | 'node'
  readonly url: string
  readonly timeoutMs?: number
  readonly maxBodyBytes?: number
  /** Milliseconds after which it is aborted. */
  readonly abortAfterMs?: number
  readonly allowLoopback?: boolean
  /** What the name resolves to, at each look-up; the last one for ever. Empty: it does not. Default: as the system does. */
  readonly resolved?: readonly (readonly string[])[]
  /** How often it is sent, one after another. Default 1. */
  readonly times?: number
}

export type Ended = (PostOutcome | { readonly thrown: string }) & { readonly ms: number }

export const BODY = '{"eventId":"evt_1"}'

/** Sends a task as often as it says. */
export async function send(sender: EventSender, task: Task): Promise<Ended[]> {
  const ended: Ended[] = []
  for (let count = 0; count < (task.times ?? 1); count++) {
    const startedAt = performance.now()
    const abort = new AbortController()
    const { timeoutMs = 5000, maxBodyBytes, abortAfterMs } = task
    const timer =
      abortAfterMs === undefined
        ? undefined
        : setTimeout(() => abort.abort(new Error('the caller is gone')), abortAfterMs)
    const message = { headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' }, body: BODY }
    const outcome = await sender
      .post(task.url, message, { timeoutMs, maxBodyBytes, signal: abort.signal })
      .catch((error: unknown) => ({ thrown: (error as Error).message }))
    clearTimeout(timer)
    ended.push({ ...outcome, ms: performance.now() - startedAt })
  }
  return ended
}
