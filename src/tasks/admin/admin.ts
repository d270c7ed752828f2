/** The admin of tasks: for code in the process of their server, and for operators at its task endpoint. */
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { runsOf } from '../runs.ts'
import type { TaskControls } from '../support.ts'
import { createAdminGate } from './gate.ts'
import { createOperations, type TaskOperations } from './operations.ts'
import { TASK_ACTIONS } from './wire.ts'

export interface TaskAdminOptions {
  /**
   * The bearer token of operators: 32 or more random characters, and not the secret of the cron. For rotation a list, or several in a string,
   * separated by commas: each is accepted. Who has it reads the arguments, steps and results of all callers. Undefined or empty, as from a
   * variable that is not set: their requests get 503, and the rest of the server works.
   */
  readonly secret: string | readonly string[] | undefined
}

const OPTIONS: Names<TaskAdminOptions> = { secret: 'string strings' }

/** What has tasks: an `MCPServer`, or the result of `createSessions`. */
export interface ServerWithTasks {
  readonly tasks: TaskControls
}

export interface TaskAdmin {
  /** For code in the process of the server. Nobody is asked for the secret. @throws TypeError for a server without tasks of `createTasks`. */
  of(server: ServerWithTasks): TaskOperations
  /** For `createTaskEndpoint`: answers a request of an operator, undefined for any other. Rejects with errors of the store. */
  answer(request: Request, query: URLSearchParams, server: ServerWithTasks): Promise<Response> | undefined
  /** For `createTaskEndpoint`. @throws TypeError if one of its secrets is one of this admin. */
  refuseSecrets(secrets: readonly (string | readonly string[])[]): void
}

/**
 * Creates the admin for the `admin` of `createTaskEndpoint`, which then also answers, at its own path:
 *
 * - `GET ?list&status=failed&tool=report&olderThanMs=60000&youngerThanMs=3600000&limit=50&after=<next>`: `{ tasks, next? }`
 * - `GET ?show=<id>`: one task, with its journal
 * - `POST ?retry=<id>`: `{ taskId }`, and `POST ?cancel=<id>`: `{ cancelled }`
 *
 * Each needs `Authorization: Bearer <secret>`, otherwise it is a 401 (503 while no secret is set), before anything is read. Refusals are 400,
 * 404, 405, 409 or 501 with `{ code, error }`. Only tasks of the endpoint's server are seen.
 *
 * @throws TypeError for a secret that is too short.
 */
export function createTaskAdmin(options: TaskAdminOptions): TaskAdmin {
  requireOptions('createTaskAdmin', options, OPTIONS)
  const of: TaskAdmin['of'] = (server) => {
    const runs = runsOf.get(server.tasks)
    if (runs === undefined)
      throw new TypeError('createTaskAdmin().of needs a server whose tasks are of this copy of mayfly-mcp.')
    return createOperations(runs)
  }
  const gate = createAdminGate('createTaskAdmin', 'MAYFLY_TASKS_SECRET', options, TASK_ACTIONS, of)
  return {
    of,
    answer: gate.answer,
    refuseSecrets: (given) => gate.refuseSecrets(given, '"secret" and "urlSecret" of createTaskEndpoint'),
  }
}
