/** A subscription to the bus for the lifetime of a session; a failed one is retried. */
import { createRetry } from '../definition/backoff.ts'
import { add, type ChangeEvent, deliver } from './bus.ts'
import type { Feed } from './feed.ts'

type Listener = (event: ChangeEvent) => void

const RETRIES = { firstMs: 1000, maxMs: 60_000 }

/** By feed: its sessions share one attempt to subscribe. */
const known = new WeakMap<Feed['join'], (listener: Listener) => () => void>()

/** Calls `listener` for each change until the returned function is called. A failed subscription is tried again. */
export function subscribePersistently(join: Feed['join'], listener: Listener): () => void {
  const listen = known.get(join) ?? createPersistent(join)
  known.set(join, listen)
  return listen(listener)
}

function createPersistent(join: Feed['join']): (listener: Listener) => () => void {
  const listeners = new Set<Listener>()
  let stop: (() => void) | undefined
  return (listener) => {
    const remove = add(listener, listeners)
    stop ??= begin(join, (event) => deliver(event, listeners))
    return () => {
      remove()
      if (listeners.size > 0) return
      stop?.()
      stop = undefined
    }
  }
}

function begin(join: Feed['join'], listener: Listener): () => void {
  let leave = (): void => {}
  let isOver = false
  const attempt = async (): Promise<void> => {
    try {
      leave = await join((event) => isOver || listener(event))
      if (isOver) leave()
    } catch {
      // The feed already reported it.
      retry.later()
    }
  }
  const retry = createRetry(attempt, RETRIES)
  void attempt()
  return () => {
    isOver = true
    retry.stop()
    leave()
  }
}
