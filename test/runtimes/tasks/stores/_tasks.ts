/** What the scenarios of the stores are made of: the tasks they keep, and the stores they keep them in. */
import { expect, vi } from 'vitest'
import type { StoredTask, TaskStore } from '../../../../src/tasks/store.ts'

export interface Instance {
  readonly store: TaskStore
  close(): unknown
}

export interface StoreOptions {
  /** Of letters, digits and `_`. What has another prefix is not seen. */
  readonly prefix: string
  readonly timeoutMs?: number
}

export interface Outage {
  begin(): unknown
  end(): unknown
}

export interface Backend {
  /** Connects as another process would. */
  connect(options: StoreOptions): Promise<Instance>
  /** The ways in which it can be down. What was kept before is kept afterwards. */
  readonly outages?: { readonly [name: string]: Outage }
  /** Whether its own clock wakes each task, so that it has none to tell. Default false. */
  readonly wakesItself?: boolean
  /** Of 20 tasks told, those of other owners at least, where one has hundreds and its share is 5. Default 15. */
  readonly fairShare?: number
  /** Tasks that are created at once. Default 500. */
  readonly burst?: number
  stop(): unknown
}

/** What a scenario has at hand. */
export interface Stores {
  /** Of the suite's tests, not before: it is started for them. */
  readonly backend: Backend
  /** A store with a prefix of its own, unless one is given. */
  connect(options?: Partial<StoreOptions>): Promise<TaskStore>
  /** Two processes that see the same tasks. */
  connectTwo(): Promise<[TaskStore, TaskStore]>
}

export const HOUR_MS = 3_600_000

export function unique(): string {
  return `t${crypto.randomUUID().replaceAll('-', '')}`
}

export function newTask(more: Partial<StoredTask> = {}): StoredTask {
  return {
    id: unique(),
    owner: 'ann',
    version: 1,
    isOpen: true,
    dueAt: null,
    expiresAt: null,
    state: '{}',
    ...more,
  }
}

/** What replaces a task. */
export function next(task: StoredTask, more: Partial<StoredTask> = {}): StoredTask {
  return { ...task, version: task.version + 1, ...more }
}

/** Returns the task once it is kept. */
export async function kept(store: TaskStore, task: StoredTask): Promise<StoredTask> {
  expect(await store.create(task, 1000)).toBe(true)
  return task
}

/** Only the time that is read changes, and then stands still: connections and limits go on. */
export function passTime(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}
