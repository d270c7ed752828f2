/** Asks a task endpoint that has an admin. Its answers are not trusted. */
import { isObject } from '../../src/definition/is-object.ts'
import type { TaskDetails, TaskOperations, TaskPage } from '../../src/tasks-admin.ts'
import { type EndpointKind, operatorAt } from './operator.ts'
import { type Asked, perform, type Told } from './request.ts'

export const TASK_ENDPOINT: EndpointKind = {
  what: 'task endpoint',
  example: 'https://example.com/tasks',
  creator: 'createTaskEndpoint',
  admin: 'createTaskAdmin',
  variable: 'MAYFLY_TASKS_SECRET',
}

/** Throws `CliError`. */
export async function askEndpoint(endpoint: URL, secret: string, asked: Asked): Promise<Told> {
  const { act, notAdmin } = operatorAt(endpoint, secret, TASK_ENDPOINT)
  const operations: TaskOperations = {
    async list(options) {
      const page = await act('GET', 'list', '', options)
      const { tasks, next } = page
      const isPage =
        Array.isArray(tasks) && tasks.every((task) => isObject(task) && typeof task.taskId === 'string')
      if (!isPage || !(next === undefined || typeof next === 'string')) throw notAdmin()
      return page as unknown as TaskPage
    },
    async show(id) {
      const details = await act('GET', 'show', id)
      if (typeof details.taskId !== 'string' || !Array.isArray(details.journal)) throw notAdmin()
      return details as unknown as TaskDetails
    },
    async retry(id) {
      const { taskId } = await act('POST', 'retry', id)
      if (typeof taskId !== 'string') throw notAdmin()
      return { taskId }
    },
    async cancel(id) {
      const { cancelled } = await act('POST', 'cancel', id)
      if (typeof cancelled !== 'boolean') throw notAdmin()
      return { cancelled }
    },
  }
  return perform(asked, operations)
}
