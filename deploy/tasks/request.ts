/** What the command asks for, and how it is told. */
import type {
  TaskDetails,
  TaskListOptions,
  TaskOperations,
  TaskPage,
  TaskSummary,
} from '../../src/tasks-admin.ts'

export type Asked =
  | { readonly action: 'list'; readonly options: TaskListOptions & { readonly limit: number } }
  | { readonly action: 'show' | 'retry' | 'cancel'; readonly id: string }

export interface Told {
  readonly page?: TaskPage
  readonly details?: TaskDetails
  readonly retried?: { readonly taskId: string }
  readonly isCancelled?: boolean
}

/** Pages that are read for one list. */
const MAX_PAGES = 1000

export async function perform(asked: Asked, operations: TaskOperations): Promise<Told> {
  if (asked.action === 'list') return { page: await collect(operations, asked.options) }
  if (asked.action === 'show') return { details: await operations.show(asked.id) }
  if (asked.action === 'retry') return { retried: await operations.retry(asked.id) }
  return { isCancelled: (await operations.cancel(asked.id)).cancelled }
}

/** As many pages as `limit` needs: many may be empty. A store may list a task twice that is written meanwhile. */
async function collect(
  { list }: Pick<TaskOperations, 'list'>,
  { limit, ...options }: TaskListOptions & { readonly limit: number },
): Promise<TaskPage> {
  const tasks = new Map<string, TaskSummary>()
  let next = options.after
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await list({ ...options, limit: Math.min(200, limit - tasks.size), after: next })
    for (const task of page.tasks) tasks.set(task.taskId, task)
    next = page.next
    if (next === undefined || tasks.size >= limit) break
  }
  return { tasks: [...tasks.values()], ...(next !== undefined && { next }) }
}
