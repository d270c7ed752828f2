/** A clock that is advanced, for runs of seconds in milliseconds. */
import { vi } from 'vitest'

/** Work of `crypto.subtle` that a thread has not done yet: the clock waits for it, or a lease could end while a busy machine is late. */
let inThreads = 0

const immediate = setImmediate

export function startClock(): void {
  for (const name of ['digest', 'encrypt', 'decrypt', 'importKey', 'deriveKey', 'deriveBits'] as const) {
    const original = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>
    const counted = async (...args: unknown[]): Promise<unknown> => {
      inThreads++
      try {
        return await original(...args)
      } finally {
        inThreads--
      }
    }
    vi.spyOn(crypto.subtle, name).mockImplementation(counted as never)
  }
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
}

export function stopClock(): void {
  vi.restoreAllMocks()
  vi.useRealTimers()
}

/** Lets promises settle between the steps of the clock. */
export async function wait(ms: number): Promise<void> {
  let isOver = false
  setTimeout(() => {
    isOver = true
  }, ms)
  while (!isOver) {
    do for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => immediate(resolve))
    while (inThreads > 0)
    vi.advanceTimersByTime(1)
  }
}
