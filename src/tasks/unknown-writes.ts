/**
 * Writes whose answer was lost. An error of a store does not say whether the write was done, or still will be. So that nothing with an effect
 * goes on in two places, the same write is repeated until the answer is known, or made impossible.
 */
import { backoffMs } from '../definition/backoff.ts'
import { pause } from '../definition/pause.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { withTimeout } from '../definition/timeout.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { TaskRecord } from './record.ts'
import type { StoredTask, TaskStore } from './store.ts'

/** Milliseconds that a task is kept which no client knows. */
export const UNCONFIRMED_MS = 300_000

/** Milliseconds for one read or write. */
const STORE_TIMEOUT_MS = 15_000

/** Milliseconds after which no further attempt to create a task begins, while its caller waits. */
const CREATE_MS = 2000

/** Milliseconds after which no further attempt to cancel begins. */
const CANCEL_MS = 60_000

const RETRIES = { firstMs: 50, maxMs: 5000 }

/** The store did not say whether a call became a task, so it may also run later. */
export class UnknownTaskError extends ProtocolError {
  constructor(cause: unknown) {
    const message =
      'The store of the tasks did not answer, so it is unknown whether this call continues as a task: look at what it has done before you repeat it.'
    super(ErrorCode.internal, message, undefined, { cause })
  }
}

/** What a write did that did not answer is unknown, as after an error. */
export function answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
  return withTimeout(asked, STORE_TIMEOUT_MS, 'store of the tasks')
}

/** Whether the store has exactly this write. */
export async function isStored(store: TaskStore, { id, version, state }: StoredTask): Promise<boolean> {
  const found = await answered(store.read(id))
  return found?.version === version && found.state === state
}

/**
 * Creates a task. A repeated attempt has the same id, so that there is never a second one. Resolves with the stored task, which a runner may
 * have changed, or with undefined if its owner has too many.
 *
 * @throws UnknownTaskError if the answer stays unknown.
 */
export async function createOnce(
  store: TaskStore,
  task: StoredTask,
  maxOpen: number,
): Promise<StoredTask | undefined> {
  const giveUpAt = Date.now() + CREATE_MS
  let first: unknown
  for (let attempt = 1; ; attempt++) {
    try {
      if (await answered(store.create(task, maxOpen))) return task
      return attempt === 1 ? undefined : await answered(store.read(task.id))
    } catch (error) {
      if (attempt === 1) first = error
      const found = await answered(store.read(task.id)).catch(() => undefined)
      if (found !== undefined) return found
      if (Date.now() >= giveUpAt) throw new UnknownTaskError(first)
    }
    await pause(backoffMs(attempt, RETRIES))
  }
}

/** Makes sure that a task does not run whose creation is unknown: takes its id, or ends it. Never rejects. */
export async function cancelUnknown(store: TaskStore, task: StoredTask): Promise<void> {
  const giveUpAt = Date.now() + CANCEL_MS
  for (let attempt = 1; Date.now() < giveUpAt; attempt++) {
    try {
      const found = await answered(store.read(task.id))
      if (found?.isOpen === false) return
      const ended = toCancelled(found ?? { ...task, version: 0 })
      const write = found === undefined ? store.create(ended, Number.MAX_SAFE_INTEGER) : store.replace(ended)
      if (await answered(write)) return
    } catch {
      // Tried again.
    }
    await pause(backoffMs(attempt, RETRIES))
  }
}

function toCancelled({ state, ...task }: StoredTask): StoredTask {
  const record = { ...(JSON.parse(state) as TaskRecord), ...CANCELLED }
  return {
    ...task,
    version: task.version + 1,
    isOpen: false,
    dueAt: null,
    expiresAt: record.updatedAt + UNCONFIRMED_MS,
    state: JSON.stringify(record),
  }
}

const CANCELLED = {
  status: 'cancelled',
  arguments: undefined,
  journal: EMPTY_JOURNAL,
  run: undefined,
  isUnconfirmed: undefined,
} as const
