/**
 * A `fetch` for external callers of tasks: the platform's cron, which runs due tasks, and systems that send an event to a task through a
 * signed URL.
 */

import { fromBase64Url, toBase64Url } from '../definition/base64.ts'
import { isA } from '../definition/error-text.ts'
import { printError } from '../definition/print-error.ts'
import { withTimeout } from '../definition/timeout.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import { readBody } from '../http/body-pieces.ts'
import { BODY_STATUS, jsonAnswer } from '../http/json-answer.ts'
import { besideOf, type DescribedServer, type MountedServer, mountedAt } from '../http/mounted.ts'
import { createUnsetAnswer } from '../http/unset-secret.ts'
import { toFetch } from '../request/fetch-call.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { TaskAdmin } from './admin/admin.ts'
import { createOptionalSecrets, isBearer } from './endpoint-secrets.ts'
import { InboxError } from './inbox.ts'
import { runsOf } from './runs.ts'
import { checkAtLeast, MIN_RUN_MS } from './settings.ts'
import type { TaskControls } from './support.ts'

/** What an endpoint needs from a server: an `MCPServer`, or the result of `createSessions`. */
export interface EndpointServer extends DescribedServer {
  readonly tasks: TaskControls
}

export interface TaskEndpointOptions {
  readonly server: EndpointServer
  /** The public URL of this endpoint. Default: none, which disables event URLs. */
  readonly url?: string
  /**
   * The bearer token of the cron: 32 or more random characters. For rotation a list, or several in a string, separated by commas: each is
   * accepted. Undefined or empty, as from a variable that is not set: requests that need it get 503, and the rest of the server works.
   */
  readonly secret: string | readonly string[] | undefined
  /** Signs event URLs, like `secret`: the first of several signs, and each verifies. Default `secret`. */
  readonly urlSecret?: string | readonly string[] | undefined
  /** Tasks that one cron call runs at once. It goes on until nothing is due, or its time is nearly over. Default 20. */
  readonly limit?: number
  /** Milliseconds that one cron call may take, 3000 or more. Default: the platform's limit if known, otherwise 10 000. */
  readonly maxDurationMs?: number
  /** Bytes of an event. Default 65 536. */
  readonly maxBodyBytes?: number
  /** Of `mayfly-mcp/tasks-admin`: this endpoint also lists, shows, retries and cancels tasks. Default: it does not. */
  readonly admin?: TaskAdmin
}

const OPTIONS: Names<TaskEndpointOptions> = {
  server: 'object',
  url: 'string',
  secret: 'string strings',
  urlSecret: 'string strings',
  limit: [1],
  maxDurationMs: [0],
  maxBodyBytes: [0],
  admin: 'object',
}

/** Options of `urlFor`. */
export interface TaskUrlOptions {
  /** Milliseconds for which the URL is valid. Default 2 592 000 000, 30 days. */
  readonly ttlMs?: number
}

const URL_OPTIONS: Names<TaskUrlOptions> = { ttlMs: [0] }

export interface TaskEndpoint {
  /** Never rejects. */
  fetch(request: Request, env?: unknown, executionContext?: unknown): Promise<Response>
  /**
   * A URL whose `POST` sends its JSON body as the event `name` to the task. Anyone who has the URL may use it once, until it expires.
   *
   * @throws TypeError without `url` or a secret, or for a `ttlMs` that is not above 0.
   */
  urlFor(taskId: string, name: string, options?: TaskUrlOptions): Promise<string>
  /**
   * The server with this endpoint at its own path: export it instead of the server.
   *
   * @param path default `/tasks`.
   * @param beside the server as another endpoint has mounted it: `tasks.mount('/tasks', events.mount('/events'))`. Default: the server.
   * @throws TypeError for an invalid path, and for another server.
   */
  mount(path?: string, beside?: DescribedServer): MountedServer
}

const BODY_TIMEOUT_MS = 10_000
const DURATION_MS = 10_000
/** Time reserved at the end of a call for its last writes. */
const RESERVE_MS = 1000
/** Levels of an event, as by default of the bodies of MCP. */
const MAX_DEPTH = 64
const URL_TTL_MS = 30 * 86_400_000

/**
 * Creates the endpoint: mount it at its own path next to the server.
 *
 * - `GET` or `POST` with `Authorization: Bearer <secret>`: runs due tasks, and answers `{ "run": 3 }`. Vercel's cron sends its
 *   `CRON_SECRET` this way.
 * - with `admin`, requests that list, show, retry or cancel tasks, with its own secret.
 * - `POST` to a URL of `urlFor`: 202, 409 if the event was sent before or the task has ended, or 410 if the URL has expired.
 *
 * Everything else is 401, 405, 400, 408 or 413; 503 while the store cannot be reached, or the secret is not set.
 *
 * @throws TypeError for an invalid URL, a secret that is too short, or too little time for a run.
 */
export function createTaskEndpoint(options: TaskEndpointOptions): TaskEndpoint {
  requireOptions('createTaskEndpoint', options, OPTIONS)
  const { server, url, secret, limit = 20, maxDurationMs, maxBodyBytes = 65_536, admin } = options
  if (url !== undefined && !URL.canParse(url))
    throw new TypeError(
      '"url" of createTaskEndpoint must be the URL of this endpoint, as in https://reports.example/tasks.',
    )
  const urlOption = options.urlSecret === undefined ? 'secret' : 'urlSecret'
  const urlSecret = options[urlOption]
  const cronSecrets = createOptionalSecrets('createTaskEndpoint', 'secret', options)
  const urlSecrets = createOptionalSecrets('createTaskEndpoint', urlOption, options)
  admin?.refuseSecrets([secret ?? [], urlSecret ?? []])
  const unset = createUnsetAnswer('createTaskEndpoint', 'secret', 'CRON_SECRET')
  const unsetUrl = urlOption === 'secret' ? unset : createUnsetAnswer('createTaskEndpoint', urlOption)
  if (!(limit >= 1 && maxBodyBytes >= 1))
    throw new TypeError('"limit" and "maxBodyBytes" of createTaskEndpoint must be 1 or more.')
  if (maxDurationMs !== undefined) checkAtLeast('maxDurationMs', maxDurationMs, MIN_RUN_MS + RESERVE_MS)

  const runDue = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    // Counted from the start of the call, like the platform does.
    const { env, waitUntil, deadline: endsAt = Date.now() + DURATION_MS } = platform
    const deadline = (maxDurationMs === undefined ? endsAt : Date.now() + maxDurationMs) - RESERVE_MS
    if (cronSecrets === undefined) return unset()
    if (!(await isBearer(request, cronSecrets)))
      return jsonAnswer(401, { error: 'Send the secret as a bearer token.' })
    const running = server.tasks.runDue({ env, ...(waitUntil && { waitUntil }), limit, deadline })
    waitUntil?.(running)
    const run = await withTimeout(
      running,
      Math.max(0, deadline - Date.now()) + RESERVE_MS / 2,
      'run of the tasks',
    )
    return jsonAnswer(200, { run })
  }

  const takeEvent = async (request: Request, query: URLSearchParams): Promise<Response> => {
    if (request.method !== 'POST') return jsonAnswer(405, { error: 'Send a POST.' }, { allow: 'POST' })
    if (urlSecrets === undefined) return unsetUrl()
    const task = query.get('task') ?? ''
    const name = query.get('event') ?? ''
    const expires = query.get('expires')
    const signature = fromBase64Url(query.get('signature') ?? '') ?? new Uint8Array()
    // URLs of versions before 0.1.0 did not expire.
    const signed = expires === null ? [task, name] : [task, name, Number(expires)]
    if (!(await urlSecrets.isSigned(signed, signature)))
      return jsonAnswer(401, { error: 'The URL is not signed by this server.' })
    if (expires !== null && Number(expires) <= Date.now())
      return jsonAnswer(410, { error: 'The URL has expired.' })
    const body = await readBody(request, maxBodyBytes, BODY_TIMEOUT_MS)
    if (!body.ok)
      return jsonAnswer(BODY_STATUS[body.fault], { error: `The body cannot be used: ${body.fault}.` })
    const value = parse(body.text)
    if (value === undefined)
      return jsonAnswer(400, { error: `The body must be JSON, at most ${MAX_DEPTH} levels deep.` })
    const isTaken = await server.tasks.send(task, name, value.json).catch((error: unknown) => {
      if (isA(error, InboxError)) return error
      throw error
    })
    if (isTaken instanceof InboxError) return jsonAnswer(413, { error: isTaken.message })
    return isTaken
      ? jsonAnswer(202, { sent: true })
      : jsonAnswer(409, {
          error: 'The task has ended, was deleted after its ttlMs, or already received this event.',
        })
  }

  const serve = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    try {
      // It may be the first request that this process gets.
      runsOf.get(server.tasks)?.see(platform.env)
      const { searchParams } = new URL(request.url)
      if (searchParams.has('task')) return await takeEvent(request, searchParams)
      const administered = admin?.answer(request, searchParams, server)
      if (administered !== undefined) return await administered
      if (request.method !== 'GET' && request.method !== 'POST')
        return jsonAnswer(405, { error: 'Send a GET or a POST.' }, { allow: 'GET, POST' })
      return await runDue(request, platform)
    } catch (error) {
      printError(error)
      return jsonAnswer(503, { error: 'The tasks cannot be reached now: try again later.' })
    }
  }

  return {
    fetch: toFetch(serve),
    mount: (path = '/tasks', beside = server) =>
      mountedAt(besideOf(server, beside), path, 'task endpoint', serve),
    async urlFor(taskId, name, options = {}) {
      refuseUnknown('urlFor', options, URL_OPTIONS)
      const { ttlMs = URL_TTL_MS } = options
      if (!(ttlMs > 0 && Number.isFinite(ttlMs)))
        throw new TypeError('"ttlMs" of urlFor must be a number of milliseconds above 0.')
      if (url === undefined)
        throw new TypeError('urlFor needs "url" of createTaskEndpoint: the URL of the endpoint.')
      if (urlSecrets === undefined)
        throw new TypeError(`urlFor needs "${urlOption}" of createTaskEndpoint, which is not set.`)
      const target = new URL(url)
      target.searchParams.set('task', taskId)
      target.searchParams.set('event', name)
      const expires = Math.ceil(Date.now() + ttlMs)
      target.searchParams.set('expires', String(expires))
      target.searchParams.set('signature', toBase64Url(await urlSecrets.sign([taskId, name, expires])))
      return target.href
    },
  }
}

function parse(text: string): { readonly json: unknown } | undefined {
  try {
    const json: unknown = text === '' ? null : JSON.parse(text)
    return isWithin(json, MAX_DEPTH) ? { json } : undefined
  } catch {
    return undefined
  }
}

/** Recursion is bounded by `levels`. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((child) => isWithin(child, levels - 1))
}
