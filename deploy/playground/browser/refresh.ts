/** Reads again what has changed: one time after the other, however often that is asked for. */

export interface Refreshing {
  readonly read: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Returns a function that reads; called while it reads, it reads once more after that. */
export function createRefresh({ read, onFailure }: Refreshing): () => void {
  let isRunning = false
  let isDue = false
  const run = async (): Promise<void> => {
    isRunning = true
    do {
      isDue = false
      await read().catch(onFailure)
    } while (isDue)
    isRunning = false
  }
  return () => {
    isDue = true
    if (!isRunning) void run()
  }
}
