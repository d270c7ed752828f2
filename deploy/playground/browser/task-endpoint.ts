/** The server's task endpoint, through the local process. */
import { asList, clip, isObject, type Json, parse } from './json.ts'
import { askLocal, type Local } from './local.ts'

export type Operation = 'list' | 'show' | 'retry' | 'cancel'

export interface TaskQuery {
  readonly id?: string
  readonly filter?: Readonly<Record<string, string>>
}

export const NOT_AN_ADMIN = 'this is not a task endpoint with `admin`: check the path'

/** The endpoint answered with another status than 200. */
export class EndpointError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Sends an operation. Rejects with an error whose message is for the user. */
export type AskTasks = (operation: Operation, query: TaskQuery, signal?: AbortSignal) => Promise<Json>

/** `read` returns what the user has typed by then. The secret stays in the input; it is never stored. */
export function createAskTasks(
  local: Local,
  read: () => { readonly path: string; readonly secret: string | undefined },
): AskTasks {
  return async (operation, query, signal) => {
    const { status, body } = await askLocal(local, 'tasks', { operation, ...query, ...read() }, signal)
    const answer = parse(body)
    if (status === 200 && isObject(answer)) return answer
    throw new EndpointError(status, `${status}: ${hintFor(status, answer) ?? clip(body, 500)}`)
  }
}

/** Reads the journal of a task. Undefined where the local process does not have the secret for it. */
export function createReadJournal(
  local: Local,
): ((id: string, signal: AbortSignal) => Promise<readonly unknown[]>) | undefined {
  if (local.key === undefined) return undefined
  const path = local.tasksPath ?? usualPath(local.endpoint)
  const ask = createAskTasks(local, () => ({ path, secret: undefined }))
  return async (id, signal) => asList((await ask('show', { id }, signal)).journal)
}

/** The path next to the MCP endpoint: `/tasks` for `/mcp`. */
export function usualPath(endpoint: string): string {
  return new URL('tasks', endpoint).pathname
}

function hintFor(status: number, answer: unknown): string | undefined {
  const { error } = isObject(answer) ? answer : {}
  if (typeof error === 'string') return clip(error, 2000)
  if (status === 401 || status === 403) return 'the endpoint refuses the secret'
  const isOther = status === 200 || status === 404 || status === 405 || (status >= 300 && status < 400)
  return isOther ? NOT_AN_ADMIN : undefined
}
