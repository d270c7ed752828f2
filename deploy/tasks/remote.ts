/** Asks a task endpoint that has an admin. Its answers are not trusted. */
import { isLoopback } from '../../src/client/allowed-urls.ts'
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { Action } from '../../src/tasks/admin/actions.ts'
import type { TaskDetails, TaskListOptions, TaskOperations, TaskPage } from '../../src/tasks-admin.ts'
import { type OutsideAnswer, Refused } from '../playground/outgoing.ts'
import { sendAction } from '../playground/task-requests.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { type Asked, perform, type Told } from './request.ts'

/** Throws `UsageError` for a URL over which others could read the secret. */
export function parseEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError('--url takes the URL of the task endpoint: https://example.com/tasks')
  if (url.protocol === 'http:' && !isLoopback(url))
    throw new UsageError('--url must begin with https://: others could read the secret')
  url.hash = ''
  return url
}

/** Throws `CliError`. */
export async function askEndpoint(endpoint: URL, secret: string, asked: Asked): Promise<Told> {
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new CliError('MAYFLY_TASKS_SECRET is empty, or has characters that a header cannot hold')
  const act = async (
    action: Action,
    value: string,
    options: TaskListOptions = {},
  ): Promise<{ readonly [name: string]: unknown }> => {
    const url = new URL(endpoint)
    url.searchParams.set(action, value)
    for (const [name, option] of Object.entries(options))
      if (option !== undefined) url.searchParams.set(name, String(option))
    const answer = await sendAction(action, url, secret).catch((error: unknown) => {
      throw isA(error, Refused) ? new CliError(error.message) : error
    })
    return bodyOf(answer, endpoint)
  }
  const operations: TaskOperations = {
    async list(options) {
      const page = await act('list', '', options)
      const { tasks, next } = page
      const isPage =
        Array.isArray(tasks) && tasks.every((task) => isObject(task) && typeof task.taskId === 'string')
      if (!isPage || !(next === undefined || typeof next === 'string')) throw notAdmin(endpoint)
      return page as unknown as TaskPage
    },
    async show(id) {
      const details = await act('show', id)
      if (typeof details.taskId !== 'string' || !Array.isArray(details.journal)) throw notAdmin(endpoint)
      return details as unknown as TaskDetails
    },
    async retry(id) {
      const { taskId } = await act('retry', id)
      if (typeof taskId !== 'string') throw notAdmin(endpoint)
      return { taskId }
    },
    async cancel(id) {
      const { cancelled } = await act('cancel', id)
      if (typeof cancelled !== 'boolean') throw notAdmin(endpoint)
      return { cancelled }
    },
  }
  return perform(asked, operations)
}

/** Throws `CliError`. */
function bodyOf({ status, body }: OutsideAnswer, endpoint: URL): { readonly [name: string]: unknown } {
  const json = parse(body)
  if (status === 401)
    throw new CliError(
      `${endpoint.origin}${endpoint.pathname} refuses MAYFLY_TASKS_SECRET: it has another secret, or no "admin"`,
    )
  if (!isObject(json)) throw notAdmin(endpoint, status)
  if (status === 200) return json
  if (typeof json.error !== 'string') throw notAdmin(endpoint, status)
  throw new CliError(json.error)
}

function notAdmin({ origin, pathname }: URL, status = 200): CliError {
  return new CliError(
    `${origin}${pathname} does not answer like a task endpoint with "admin" (status ${status}): is it the path of createTaskEndpoint?`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
