/**
 * The local process of the playground: serves the pages, fetches OAuth documents, asks the task endpoint, for `mayfly dev` tells what
 * the server logged, and for `mayfly inspect` forwards messages to it.
 *
 * Other web pages in the same browser must not use it. The `Host` must be this machine (against DNS rebinding), a request that does
 * something must come from the page's own origin and have the token, and everything else is refused with 403.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLoopback } from '../../src/client/allowed-urls.ts'
import { isA } from '../../src/definition/error-text.ts'
import { readBody } from '../run/read-body.ts'
import type { ErrorLog } from './error-log.ts'
import type { EventReceivers } from './event-receiver.ts'
import { forward, withoutHops } from './forward.ts'
import { fetchOutside, type OutsideRequest, Refused } from './outgoing.ts'
import {
  ASSETS,
  type Asset,
  type PlaygroundPage,
  PREFIX,
  playgroundHeaders,
  readAsset,
  renderPlayground,
  renderTasks,
} from './page.ts'
import { askReceivers, receive } from './receiver-requests.ts'
import type { Reloads } from './reloads.ts'
import { askForTasks, isSame, type TaskAccess } from './task-requests.ts'

export interface LocalProcess {
  /** The path that the page sends its MCP messages to. */
  readonly path: string
  /** The server; it decides which addresses may be fetched. */
  readonly server: URL
  readonly token: string
  /** `inspect`: messages go to `server` with these headers, and only the printed address has the token. */
  readonly forwards?: { readonly headers: Readonly<Record<string, string>> }
  /** `dev`: the path of the task endpoint, if the project declares it, and its secret. */
  readonly tasks?: { readonly path?: string | undefined; readonly access?: TaskAccess | undefined }
  /** `dev`: tells the page when the server was replaced. */
  readonly reloads?: Reloads
  /** `dev`: what the server logged. */
  readonly errors?: ErrorLog | undefined
  /** Webhooks for the events of a server on this machine. */
  readonly receivers: EventReceivers
}

const MAX_BODY_BYTES = 64 * 1024
const RECEIVER = 'receive/'

/** Headers that the page may send to the server. */
const SENT = /^(?:accept|authorization|content-type|last-event-id|mcp-.+)$/
/** Headers of the server that the page's browser needs. */
const WITHHELD =
  /^(?:set-cookie2?|access-control-.*|clear-site-data|content-security-policy.*|cross-origin-.*|nel|refresh|report-to|reporting-endpoints|service-worker-allowed|sourcemap|x-sourcemap|link|location|permissions-policy|referrer-policy|speculation-rules|strict-transport-security|origin-agent-cluster|x-mayfly-unreachable)$/

/** Whether the request's host is this machine. */
export function isLocalHost({ headers }: IncomingMessage): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/.test(headers.host ?? '')
}

/** Answers a request below `PREFIX`. */
export async function answerLocally(
  request: IncomingMessage,
  response: ServerResponse,
  local: LocalProcess,
): Promise<void> {
  const path = pathOf(request).slice(PREFIX.length)
  if (!isLocalHost(request)) return refuse(response, 403, 'this page is only for the machine that it runs on')
  if (path.startsWith(RECEIVER))
    return receive(path.slice(RECEIVER.length), request, response, local.receivers)
  if (request.method === 'GET') {
    if (path === '') return servePage(request, response, local)
    if (path === 'tasks') return servePage(request, response, local, renderTasks)
    if (ASSETS.includes(path)) return serve(request, response, readAsset(path))
    return refuse(response, 404, 'not found')
  }
  if (request.method !== 'POST') return refuse(response, 405, 'GET or POST', { allow: 'GET, POST' })
  if (!isFromPage(request, local))
    return refuse(response, 403, 'only the page shown in the terminal may do this')
  if (path === 'fetch')
    return serveAnswer(request, response, (text) => fetchOutside(parseAsked(text), local.server))
  if (path === 'tasks') {
    const { server, forwards, tasks } = local
    const target = { server, headers: forwards?.headers ?? {}, access: tasks?.access }
    return serveAnswer(request, response, (text) =>
      askForTasks(text, request.headers['x-mayfly-key'], target),
    )
  }
  if (path === 'reloads' && local.reloads !== undefined) {
    const hasPlace = local.reloads.join(response, playgroundHeaders(originOf(request)))
    return hasPlace ? undefined : refuse(response, 429, 'too many pages listen: close some')
  }
  const { errors } = local
  if (path === 'errors' && errors !== undefined)
    return serveAnswer(request, response, async (text) => {
      const { requestId } = parseJson(text)
      return { status: 200, body: JSON.stringify(await errors.of(String(requestId))) }
    })
  if (path === 'receivers')
    return serveAnswer(request, response, async (text) => {
      if (!isLoopback(local.server)) throw new Refused('the server is elsewhere: it cannot reach this page')
      // The process listens there only.
      const { port } = new URL(originOf(request))
      const toUrl = (id: string): string => `http://127.0.0.1:${port}${PREFIX}${RECEIVER}${id}`
      return {
        status: 200,
        body: JSON.stringify(askReceivers(parseJson(text), local.receivers, toUrl)),
      }
    })
  // The URL may contain a key.
  if (path === 'target') return serveJson(request, response, { endpoint: local.server.href })
  if (path === 'mcp' && local.forwards !== undefined) return forwardMessage(request, response, local)
  return refuse(response, 404, 'not found')
}

export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0]!
}

/** The page, also when it replaces another one. */
export function servePage(
  request: IncomingMessage,
  response: ServerResponse,
  local: LocalProcess,
  render: (page: PlaygroundPage) => string = renderPlayground,
): void {
  const { path, token, forwards, tasks, reloads } = local
  const own = { path, token, tasksPath: tasks?.path, reloads: reloads?.count }
  const page = render(forwards === undefined ? own : { path })
  serve(request, response, { type: 'text/html; charset=utf-8', body: page })
}

function serve(request: IncomingMessage, response: ServerResponse, { type, body }: Asset): void {
  response.writeHead(200, { ...playgroundHeaders(originOf(request)), 'content-type': type })
  response.end(body)
}

/** Only called for a `Host` that is this machine. */
function originOf({ headers }: IncomingMessage): string {
  return `http://${headers.host}`
}

function isFromPage(request: IncomingMessage, { token }: LocalProcess): boolean {
  const { origin, 'sec-fetch-site': site, 'x-mayfly-token': given } = request.headers
  if (origin !== originOf(request) || (site !== undefined && site !== 'same-origin')) return false
  return isSame(token, given)
}

/** Serves what `answerTo` resolves with for the body of the request. */
async function serveAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answerTo: (text: string) => Promise<object>,
): Promise<void> {
  try {
    const body = await readBody(request, MAX_BODY_BYTES)
    if (body === undefined) throw new Refused(`more than ${MAX_BODY_BYTES} bytes`)
    serveJson(request, response, await answerTo(body.toString('utf8')))
  } catch (error) {
    if (!isA(error, Refused)) throw error
    refuse(response, 502, error.message)
  }
}

function serveJson(request: IncomingMessage, response: ServerResponse, answer: object): void {
  serve(request, response, { type: 'application/json', body: JSON.stringify(answer) })
}

/** An empty object for `null`. */
function parseJson(text: string): { readonly [name: string]: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    throw new Refused('not JSON')
  }
}

function parseAsked(text: string): OutsideRequest {
  const { url, method, contentType, body } = parseJson(text)
  const isText = (value: unknown): value is string | undefined =>
    value === undefined || typeof value === 'string'
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Refused('not a URL')
  if ((method !== 'GET' && method !== 'POST') || !isText(contentType) || !isText(body))
    throw new Refused('not a request')
  const parsed = new URL(url)
  if (!/^https?:$/.test(parsed.protocol)) throw new Refused(`not http or https: ${parsed.protocol}`)
  if (parsed.username !== '' || parsed.password !== '') throw new Refused('the URL contains a password')
  if (contentType !== undefined && !/^application\/(?:json|x-www-form-urlencoded)$/.test(contentType))
    throw new Refused('not an OAuth content type')
  return { url: parsed, method, contentType, body }
}

function forwardMessage(
  request: IncomingMessage,
  response: ServerResponse,
  { server, forwards }: LocalProcess,
): void {
  const own = Object.entries(request.headers).filter(([name]) => SENT.test(name))
  const headers = { ...Object.fromEntries(own), 'accept-encoding': 'identity', ...forwards!.headers }
  // A token from a sign-in is newer than the one from the command line.
  const { authorization } = request.headers
  forward(request, response, {
    url: server,
    options: {
      method: 'POST',
      headers: authorization === undefined ? headers : { ...headers, authorization },
    },
    toHeaders: (rawHeaders) => [...harmless(rawHeaders), ...Object.entries(FORWARDED).flat()],
    onFailure: (error) =>
      refuse(response, 502, `${server.origin} did not give a usable answer: ${error.message}`, UNREACHABLE),
  })
}

/** Tells the page that the answer is not the server's: `WITHHELD` takes it from those. */
const UNREACHABLE = { 'x-mayfly-unreachable': '1' }

/** If a browser displayed such a response, it would have no origin and no scripts. */
const FORWARDED = {
  'content-security-policy': `sandbox; default-src 'none'`,
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

function harmless(rawHeaders: readonly string[]): string[] {
  const headers = withoutHops(rawHeaders)
  return headers.filter((_, at) => {
    const name = headers[at - (at % 2)]!.toLowerCase()
    return !WITHHELD.test(name) && !Object.hasOwn(FORWARDED, name)
  })
}

export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(`${message}\n`)
}
