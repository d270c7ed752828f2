/** A task endpoint whose answers are hostile: markup, wrong types, lists and journals without an end. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PAYLOADS } from './_hostile-mcp.ts'

type Json = { readonly [name: string]: unknown }

const ALL = PAYLOADS.join(' ')
export const SECRET = 'secret-of-the-endpoint-that-is-typed'

const odd: readonly unknown[] = [
  null,
  7,
  'text',
  [],
  {},
  { taskId: {}, tool: [], status: { a: 1 }, awaits: 'x' },
]

const marked = {
  taskId: ALL,
  status: ALL,
  statusMessage: ALL,
  tool: ALL,
  toolVersion: ALL,
  createdAt: ALL,
  lastUpdatedAt: 8.64e15 + 1,
  dueAt: 'javascript:window.hacked=1',
  expiresAt: -1e300,
  bytes: ALL,
  run: { until: ALL, leaseMs: ALL, isAlone: ALL },
  crashes: 1e300,
  idleRuns: -1,
  releases: ALL,
  awaits: { events: [ALL, ...PAYLOADS], questions: ALL },
}

function listed(id: string): Json {
  const at = new Date(Date.now() - 90_000).toISOString()
  return { taskId: id, status: 'working', tool: 'report', createdAt: at, lastUpdatedAt: at, bytes: 1 }
}

/** 1 MB of journal, without the cuts of a real endpoint. */
const journal = Array.from({ length: 9000 }, (_, at) => ({
  kind: at % 2 === 0 ? 'step' : ALL,
  name: `${PAYLOADS[at % PAYLOADS.length]} ${at}`,
  at,
  ...(at % 3 === 0
    ? { error: { message: ALL } }
    : { value: { json: JSON.stringify({ [ALL]: ALL, ['__proto__']: 'x'.repeat(20) }), bytes: 1 } }),
}))

const LEVELS = 20_000
const deep = `${'[{"a":'.repeat(LEVELS)}1${'}]'.repeat(LEVELS)}`

const DETAILS: { readonly [id: string]: () => string } = {
  marked: () =>
    JSON.stringify({
      ...marked,
      arguments: { [ALL]: ALL },
      journal: [
        ...PAYLOADS,
        ...odd,
        { kind: ALL, name: ALL, error: ALL },
        { kind: {}, name: {}, error: null },
      ],
      questions: ALL,
      inbox: [ALL],
      result: { content: [{ type: 'resource_link', uri: 'javascript:window.hacked=1' }] },
      error: { message: ALL, data: ALL },
      caller: ALL,
      retriedAs: ALL,
      retryOf: `javascript:window.hacked=1`,
    }),
  long: () => JSON.stringify({ ...listed('long'), journal }),
  endless: () =>
    JSON.stringify({ ...listed('endless'), journal: Array(400_000).fill({ kind: 'step', name: 'a' }) }),
  deep: () => `{"taskId":"deep","status":"working","journal":[${deep}],"result":${deep}}`,
  nothing: () => '{"journal":{"length":1e9},"awaits":null}',
  list: () => '[]',
  markup: () => ALL,
  large: () => JSON.stringify({ journal: ['x'.repeat(17_000_000)] }),
}

const LISTS: { readonly [tool: string]: () => unknown } = {
  marked: () => ({ tasks: [marked, ...odd, listed('marked')], next: ALL }),
  many: () => ({ tasks: Array.from({ length: 100_000 }, (_, at) => listed(`t${at}`)), next: 'again' }),
  empty: () => ({ tasks: [], next: 'again' }),
  nonsense: () => ({ tasks: { length: 1e9 }, next: {} }),
}

export interface HostileTasks extends AsyncDisposable {
  /** Of its MCP endpoint. */
  readonly url: string
  /** `method url` of each request. */
  readonly asked: string[]
}

export async function startHostileTasks(): Promise<HostileTasks> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const { searchParams, pathname } = new URL(request.url!, 'http://localhost')
    response.setHeader('set-cookie', 'evil=1')
    response.setHeader('refresh', '0; url=https://evil.example/')
    const isOpen = request.headers.authorization === `Bearer ${SECRET}`
    const [status, body] = isOpen ? answerTo(pathname, searchParams) : [401, JSON.stringify({ error: ALL })]
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answerTo(path: string, query: URLSearchParams): readonly [status: number, body: string] {
  if (path !== '/tasks') return [404, ALL]
  if (query.has('cancel')) return [409, JSON.stringify({ error: ALL })]
  if (query.has('retry')) return [200, JSON.stringify({ taskId: 'long' })]
  if (query.has('show')) return [200, DETAILS[query.get('show')!]?.() ?? '{}']
  return [200, JSON.stringify(LISTS[query.get('tool') ?? 'marked']!())]
}
