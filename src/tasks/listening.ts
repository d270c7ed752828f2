/** `notifications/tasks` on `subscriptions/listen`: each contains the task as `tasks/get` returns it at that time. */
import { invalidParams } from '../definition/protocol-error.ts'
import { requireDeclared } from '../request/declared-tasks.ts'
import { principalOf } from '../request/principal.ts'
import { TASK_URI, type TaskSupport } from '../request/task-support.ts'
import { mayUse } from './methods.ts'
import { describeDetails } from './record.ts'
import type { TaskRuns } from './runs.ts'

/** Maximum tasks per stream, since each is read at the start. */
const MAX_TASKS = 100

export function createListening(runs: TaskRuns): Pick<TaskSupport, 'listen' | 'translate'> {
  const { records, report, isForeign } = runs
  return {
    async listen(filter, listener) {
      const { auth, access, hasBus } = listener
      const { taskIds } = filter as { taskIds?: unknown }
      if (taskIds === undefined) return undefined
      requireDeclared(listener)
      const isList = Array.isArray(taskIds) && taskIds.every((id) => typeof id === 'string')
      if (!isList || taskIds.length > MAX_TASKS)
        throw invalidParams(`"notifications.taskIds" must be a list of at most ${MAX_TASKS} ids.`)
      if (!hasBus) return undefined
      const principal = principalOf({ auth })
      const found = await Promise.all([...new Set<string>(taskIds)].map((id) => records.read(id)))
      const own = found.flatMap((task) =>
        task?.record.principal === principal && !isForeign(task.server) && mayUse(runs, task, access)
          ? task.id
          : [],
      )
      return own.length === 0 ? undefined : { filter: { taskIds: own }, uris: own.map((id) => TASK_URI + id) }
    },
    async translate(changed) {
      if (typeof changed !== 'string' || !changed.startsWith(TASK_URI)) return undefined
      // If the store fails, the stream continues, and the client may poll for the task.
      const task = await records.read(changed.slice(TASK_URI.length)).catch(report)
      return task ? { method: 'notifications/tasks', params: describeDetails(task) } : undefined
    },
  }
}
