/** The local process behind this page: its settings, and its services for the page. */

import { isOnThisMachine } from './dom.ts'
import { asObject, asText, clip, isObject, type Json, parse } from './json.ts'
import type { FetchOutside } from './oauth.ts'

/** What the local process wrote into the page. */
export interface Local {
  /** The URL of the MCP endpoint, as clients use it. */
  readonly endpoint: string
  /** The path that the page sends its requests to. */
  readonly path: string
  readonly token: string
  /** `dev`: opens the tasks without their secret. Undefined if the page was not opened with the URL shown in the terminal. */
  readonly key?: string | undefined
  /** The path of the task endpoint, if the project declares it. */
  readonly tasksPath?: string | undefined
  /** How often `mayfly dev` had replaced the server when it wrote the page. Undefined if it does not say. */
  readonly reloads?: number | undefined
}

const TOKEN = 'mayfly-token'
const TOKEN_HEADER = 'x-mayfly-token'
const KEY_HEADER = 'x-mayfly-key'
const RECEIVER_MS = 5000

/** Undefined if the page was opened without the token in the URL on the terminal. */
export async function readLocal(): Promise<Local | undefined> {
  const written = asObject(parse(document.querySelector<HTMLMetaElement>('meta[name=mayfly]')?.content ?? ''))
  const [, fromAddress] = /^#token=([\w-]+)$/.exec(location.hash) ?? []
  if (fromAddress !== undefined) {
    // It survives signing in, and is not in the URL that an authorization server sees.
    sessionStorage.setItem(TOKEN, fromAddress)
    history.replaceState(null, '', location.pathname + location.search)
  }
  const kept = sessionStorage.getItem(TOKEN) ?? undefined
  const token = asText(written.token) ?? kept
  const path = asText(written.path) ?? '/mcp'
  if (token === undefined) return undefined
  const isOwn = asText(written.token) !== undefined
  const endpoint = isOwn ? new URL(path, location.origin).href : await askForTarget(token)
  const { reloads } = written
  const more = isOwn && {
    key: kept,
    tasksPath: asText(written.tasksPath),
    ...(typeof reloads === 'number' && { reloads }),
  }
  return endpoint === undefined ? undefined : { endpoint, path, token, ...more }
}

/** The URL of the page of tasks, for another tab. */
export function tasksUrl(): string {
  const kept = sessionStorage.getItem(TOKEN)
  return `/__mayfly/tasks${kept === null ? '' : `#token=${kept}`}`
}

/** Undefined if the token is of an earlier process. */
async function askForTarget(token: string): Promise<string | undefined> {
  const response = await fetch('/__mayfly/target', { method: 'POST', headers: { [TOKEN_HEADER]: token } })
  return response.ok ? asText(asObject(parse(await response.text())).endpoint) : undefined
}

export function hiddenHeaders({ token, path }: Local): Record<string, string> {
  return path.startsWith('/__mayfly/') ? { [TOKEN_HEADER]: token } : {}
}

export function createFetchOutside(local: Local): FetchOutside {
  return (request) => askLocal(local, 'fetch', request)
}

/** Opens, reads, sets or closes a webhook for events. */
export type AskReceivers = (request: object) => Promise<Json>

/** Undefined for a server that cannot reach this machine. */
export function createAskReceivers(local: Local): AskReceivers | undefined {
  if (!isOnThisMachine(new URL(local.endpoint))) return undefined
  return async (request) => {
    const { body } = await askLocal(local, 'receivers', request, AbortSignal.timeout(RECEIVER_MS))
    return asObject(parse(body))
  }
}

/** A stream of what became of changes of the code, the present state first. */
export function openReloads({ token }: Local, signal: AbortSignal): Promise<Response> {
  return fetch('/__mayfly/reloads', { method: 'POST', headers: { [TOKEN_HEADER]: token }, signal })
}

/** Asks a service of the local process, which answers with what another server said or logged. */
export async function askLocal(
  { token, key }: Local,
  service: 'fetch' | 'tasks' | 'errors' | 'receivers',
  request: object,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(`/__mayfly/${service}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [TOKEN_HEADER]: token,
      ...(key !== undefined && { [KEY_HEADER]: key }),
    },
    body: JSON.stringify(request),
    ...(signal !== undefined && { signal }),
  })
  const body = await response.text()
  const answer = parse(body)
  if (!response.ok || !isObject(answer)) throw new Error(clip(body, 500))
  return { status: Number(answer.status), body: String(answer.body) }
}
