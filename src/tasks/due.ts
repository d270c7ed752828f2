/** Runs what is due: one page of the store, or with a deadline page after page. */
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { BUSY, type TaskRuns } from './runs.ts'
import { MIN_RUN_MS } from './settings.ts'
import type { SlicePlatform, TaskControls } from './support.ts'

/** Tasks that one `runDue` runs at once. */
const DUE_LIMIT = 20

/** Milliseconds that a task of a page waits for a place in this process. Later it is due again. */
const PATIENCE_MS = 5000

/** Milliseconds between two attempts to get a place. */
const RETRY_MS = 50

const OPTIONS: Names<SlicePlatform & { readonly limit?: number }> = {
  env: 1,
  deadline: [0],
  waitUntil: 'function',
  limit: [1],
}

/** Milliseconds between two looks for tasks of other servers. */
const LOOK_ELSEWHERE_MS = 60_000

export function createRunDue({ records, start, isForeign, see, watch }: TaskRuns): TaskControls['runDue'] {
  let lookedAt = Number.NEGATIVE_INFINITY
  let hasSeen = false
  /** Two servers in one store may be a mistake, and so may a server with a new id: it is reported once. Never rejects. */
  const lookElsewhere = async (): Promise<void> => {
    const now = Date.now()
    if (hasSeen || now - lookedAt < LOOK_ELSEWHERE_MS) return
    lookedAt = now
    hasSeen = isForeign(await records.dueElsewhere(now).catch(() => undefined))
  }

  /** Resolves with whether the task is still due. */
  const runOne = async (id: string, platform: SlicePlatform): Promise<boolean> => {
    const { deadline = Date.now() + PATIENCE_MS + MIN_RUN_MS } = platform
    for (;;) {
      const next = await start(id, platform)
      if (next !== BUSY) return next !== null && next <= Date.now()
      if (Date.now() + RETRY_MS > deadline - MIN_RUN_MS) return true
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  const runPages = async (limit: number, platform: SlicePlatform, deadline: number): Promise<number> => {
    const running = new Map<string, Promise<unknown>>()
    /** Not again in this call. */
    const stillDue = new Set<string>()
    const begin = (id: string): void => {
      const run = runOne(id, platform).then((isDue) => {
        running.delete(id)
        if (isDue) stillDue.add(id)
      })
      running.set(id, run)
    }
    let total = 0
    let counting: Promise<void> | undefined
    while (Date.now() < deadline - MIN_RUN_MS) {
      // One long task does not keep the next page waiting.
      if (running.size * 2 <= limit) {
        const page = await records.due(Date.now(), limit)
        counting = watch()?.queue(page.length)
        const fresh = page
          .filter((id) => !running.has(id) && !stillDue.has(id))
          .slice(0, limit - running.size)
        for (const id of fresh) begin(id)
        total += fresh.length
        if (running.size === 0) {
          await lookElsewhere()
          return total
        }
      }
      await Promise.race(running.values())
    }
    await Promise.all([...running.values(), counting])
    return total
  }

  return async (options = {}) => {
    refuseUnknown('runDue', options, OPTIONS)
    const { limit = DUE_LIMIT, ...platform } = options
    see(platform.env)
    if (platform.deadline !== undefined) return runPages(limit, platform, platform.deadline)
    const ids = await records.due(Date.now(), limit)
    const counting = watch()?.queue(ids.length)
    if (ids.length < limit) await lookElsewhere()
    await Promise.all([...ids.map((id) => runOne(id, platform)), counting])
    return ids.length
  }
}
