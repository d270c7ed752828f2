/** `notifications/tasks` on `subscriptions/listen`: each contains the task as `tasks/get` returns it at that time. */
import { invalidParams } from '../definition/protocol-error.ts'
import type { ExtensionParts, Notification } from '../request/extension.ts'
import { principalOf } from '../request/principal.ts'
import { requireDeclared } from './declared.ts'
import { mayUse } from './methods.ts'
import { describeDetails } from './record.ts'
import type { TaskRuns } from './runs.ts'
import { TASK_URI } from './support.ts'

/** Maximum tasks per stream, since each is read at the start. */
const MAX_TASKS = 100

export function createListening(runs: TaskRuns): Required<Pick<ExtensionParts, 'listen' | 'translate'>> {
  const { records, report, isForeign } = runs
  const tell = async (id: string): Promise<Notification | undefined> => {
    // If the store fails, the stream continues, and the client may poll for the task.
    const task = await records.read(id).catch(report)
    return task ? { method: 'notifications/tasks', params: describeDetails(task) } : undefined
  }
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
      if (own.length === 0) return undefined
      const uris = own.map((id) => TASK_URI + id)
      return { filter: { taskIds: own }, uris, now: uris }
    },
    translate(changed) {
      if (typeof changed !== 'string' || !changed.startsWith(TASK_URI)) return undefined
      return tell(changed.slice(TASK_URI.length))
    },
  }
}
