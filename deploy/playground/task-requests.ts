/**
 * Requests of the page of tasks to the server's task endpoint: only the operations of `createTaskAdmin`.
 *
 * The user types the endpoint's secret, which is in no URL and no log. `mayfly dev` adds the secret of the environment, but only to requests
 * with the key of the address that it prints: any user of the machine can read the page with its token.
 */
import { timingSafeEqual } from 'node:crypto'
import { type Action, FILTERS, METHODS } from '../../src/tasks/admin/actions.ts'
import { ask, type OutsideAnswer, Refused } from './outgoing.ts'

/** What `mayfly dev` knows about the task endpoint. */
export interface TaskAccess {
  readonly secret: string
  /** Which requests get the secret. */
  readonly key: string
}

export interface TaskTarget {
  /** The endpoint must have its origin. */
  readonly server: URL
  /** For each request, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly access: TaskAccess | undefined
}

/** What a header can hold. */
const SECRET = /^[\x21-\x7e]{1,4096}$/
const LIMITS = { timeoutMs: 30_000, maxBytes: 16_000_000 }

/** Sends what the page asks for, as JSON. Rejects with `Refused`. */
export async function askForTasks(text: string, key: unknown, target: TaskTarget): Promise<OutsideAnswer> {
  const { server, headers, access } = target
  const { action, url, secret } = parseAsked(text, server)
  const known = access !== undefined && isSame(access.key, key) ? access.secret : undefined
  const { authorization: _ofMcp, ...others } = headers
  return send(METHODS[action], url, secret ?? known, others)
}

/** Sends an operator's request. Rejects with `Refused`. */
export function send(
  method: 'GET' | 'POST',
  url: URL,
  secret: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<OutsideAnswer> {
  const sent = {
    ...headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
  }
  return ask(url, { method, headers: sent }, LIMITS)
}

/** In a time that does not reveal the key. */
export function isSame(key: string, given: unknown): boolean {
  const [own, sent] = [Buffer.from(key), Buffer.from(String(given))]
  return own.length === sent.length && timingSafeEqual(own, sent)
}

interface Asked {
  readonly action: Action
  readonly url: URL
  readonly secret: string | undefined
}

function parseAsked(text: string, server: URL): Asked {
  let asked: unknown
  try {
    asked = JSON.parse(text)
  } catch {
    throw new Refused('not JSON')
  }
  const { operation, path, id = '', filter, secret } = (asked ?? {}) as { readonly [name: string]: unknown }
  if (typeof operation !== 'string' || !Object.hasOwn(METHODS, operation))
    throw new Refused('not an operation on tasks')
  if (typeof id !== 'string') throw new Refused('not the id of a task')
  if (secret !== undefined && (typeof secret !== 'string' || !SECRET.test(secret)))
    throw new Refused('not a secret: it has blanks, or characters that a header cannot hold')
  const url = urlOf(path, server)
  url.searchParams.set(operation, id)
  const filters = Object.entries((filter ?? {}) as object).filter(
    ([name, value]) => FILTERS.includes(name) && typeof value === 'string',
  )
  for (const [name, value] of filters) url.searchParams.set(name, value)
  return { action: operation as Action, url, secret }
}

/** Below the server's origin, which decides who gets the secret. */
function urlOf(path: unknown, { origin }: URL): URL {
  const isPath = typeof path === 'string' && /^\/(?![/\\])/.test(path) && URL.canParse(path, origin)
  const url = isPath ? new URL(path, origin) : undefined
  if (url?.origin !== origin)
    throw new Refused('not a path of the server: it begins with one "/", as in /tasks')
  return url
}
