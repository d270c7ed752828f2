/** What causes runs beside `emit`: a runner of tasks, for which all events of a server are one thing that is due at a time. */
import { callHook, isThenable } from '../definition/hook.ts'
import { withTimeout } from '../definition/timeout.ts'
import { EVENTS_ID, type RunnerOwner, type TaskRunner } from '../tasks/store.ts'
import type { TaskControls } from '../tasks/support.ts'
import type { Core } from './core.ts'
import { runEvents } from './run.ts'
import type { EventPlatform, EventRun } from './support.ts'

/** When a run begins that continues the work of an invocation that died. */
const DIED_MS = 60_000
/** Before the next run, if there is more to do than one had time for, and if one could do nothing. */
const MORE_MS = 500
const STUCK_MS = 5000
const WAKE_TIMEOUT_MS = 1000

export interface Waking {
  /** Called after each event: the runner causes a run, even if this process dies. */
  emitted(): Promise<void>
  /** Whether the runner itself makes the deliveries of new events. */
  readonly isPrompt: boolean
  /** A run, after which the runner causes the next one. Never rejects. */
  run(platform: EventPlatform): Promise<EventRun>
  close(): void
}

export function createWaking(core: Core, runner: TaskRunner | undefined): Waking {
  /** What this process has asked the runner for. */
  let wokenAt = 0
  const wake = async (at: number): Promise<void> => {
    const isKnown = wokenAt > Date.now() && wokenAt <= at
    if (runner === undefined || isKnown) return
    wokenAt = at
    try {
      const told = runner.wake(EVENTS_ID, at)
      if (isThenable(told)) await withTimeout(told, WAKE_TIMEOUT_MS, 'runner of the events')
    } catch (error) {
      wokenAt = 0
      core.report(error)
    }
  }
  /** Resolves with the time of the next run, which the runner was asked for. Undefined: this one could do nothing. */
  const wakeNext = async ({ nextDueAt, delivered, failed }: EventRun): Promise<number | null | undefined> => {
    const now = Date.now()
    if (nextDueAt === null) {
      wokenAt = 0
      callHook(() => runner?.forget?.(EVENTS_ID), core.report)
      return null
    }
    if (nextDueAt <= now && delivered + failed === 0) return undefined
    const at = nextDueAt > now ? nextDueAt : now + MORE_MS
    await wake(at)
    return at
  }
  const run = async (platform: EventPlatform): Promise<EventRun> => {
    const done = await runEvents(core, platform)
    if ((await wakeNext(done)) === undefined) await wake(Date.now() + STUCK_MS)
    return done
  }
  const tasks: TaskControls = {
    send: async () => false,
    async run(_id, platform = {}) {
      const done = await runEvents(core, platform)
      // A runner tries again by itself, with longer pauses each time: another message each time would add up.
      return (await wakeNext(done)) ?? done.nextDueAt
    },
    async runDue(platform = {}) {
      const { delivered, failed } = await run(platform)
      return delivered + failed
    },
  }
  const owner: RunnerOwner = {
    only: EVENTS_ID,
    tag: core.tag,
    see: (variables) => core.host().owner.see(variables),
    isForeign: (tag) => tag !== undefined && tag !== core.tag(),
  }
  runner?.attach?.(tasks, owner)
  const isPrompt = runner?.isPrompt === true
  return {
    isPrompt,
    emitted: () => wake(Date.now() + (isPrompt ? 0 : DIED_MS)),
    run,
    close: () => callHook(() => runner?.close?.(), core.report),
  }
}
