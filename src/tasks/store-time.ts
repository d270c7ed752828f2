/**
 * The clock of the store: tasks are stored in its time and used in that of this machine, so that two machines whose clocks differ agree on
 * when a lease, a sleep or a task ends.
 */
import type { Task, TaskRecord } from './record.ts'
import type { TaskStore } from './store.ts'

export interface StoreClock {
  /** Milliseconds by which the store's clock is ahead of this machine's, as last known. 0 at first, and for a store without a clock. */
  readonly offsetMs: number
  /** Asks the store, which does so rarely. @throws if it was never known and the store is down. */
  sync(): Promise<number>
}

/** @param bounded Limits the wait for the store. */
export function createStoreClock(
  store: TaskStore,
  bounded: <Answer>(asked: Promise<Answer>) => Promise<Answer>,
): StoreClock {
  let offsetMs = 0
  return {
    get offsetMs() {
      return offsetMs
    },
    async sync() {
      if (store.clockOffsetMs === undefined) return 0
      const asked = Math.round(await bounded(store.clockOffsetMs()))
      if (Number.isSafeInteger(asked)) offsetMs = asked
      return offsetMs
    },
  }
}

export function toStoreTime(task: Task, offsetMs: number): Task {
  return offsetMs === 0 ? task : shifted(task, offsetMs)
}

export function toOwnTime(task: Task, offsetMs: number): Task {
  return offsetMs === 0 ? task : shifted(task, -offsetMs)
}

/** The ends of sleeps are in the journal, which stays in the store's time: `waits.ts` converts them. */
function shifted({ dueAt, record, ...task }: Task, byMs: number): Task {
  const { createdAt, updatedAt, run } = record
  const next: TaskRecord = {
    ...record,
    createdAt: createdAt + byMs,
    updatedAt: updatedAt + byMs,
    ...(run !== undefined && { run: { ...run, until: run.until + byMs, lookAt: run.lookAt + byMs } }),
  }
  return { ...task, dueAt: dueAt === null ? null : dueAt + byMs, record: next }
}
