/**
 * Serves `<requests>` requests in a process of its own and reports the heap in use eight times on the way:
 * `<mayfly or control> <requests>`.
 *
 * Of ten requests, six are calls (both eras), one is a list, one arrives aborted, one is aborted while its tool waits
 * for the signal, one while its tool waits for nothing and never settles. The control answers the same requests
 * without a server: what grows there is the runtime's, or this script's.
 */
import { setImmediate } from 'node:timers/promises'
import { createTool, MCPServer } from 'mayfly-mcp'
import { callTemplate, LEGACY, listTemplate, MODERN, toRequest } from './requests.ts'
import { echoTools } from './tools.ts'

/** The client of the request being served; its tool hangs up on it. */
let client = new AbortController()

const waits = createTool({
  id: 'waits',
  description: 'Waits for its signal',
  execute: (_input, { signal }) => {
    const aborted = new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve('late'), { once: true }),
    )
    queueMicrotask(() => client.abort())
    return aborted
  },
})

const hangs = createTool({
  id: 'hangs',
  description: 'Never settles',
  execute: () => {
    queueMicrotask(() => client.abort())
    return new Promise(() => {})
  },
})

const { name: id, description, inputSchema } = echoTools(1)[0]!
const server = new MCPServer({
  id: 'bench',
  name: 'bench',
  version: '1.0.0',
  tools: {
    echo: createTool({ id, description, inputSchema, execute: async ({ text }) => text }),
    waits,
    hangs,
  },
  log: false,
})

async function answerNothing(request: Request): Promise<Response> {
  await request.text()
  queueMicrotask(() => client.abort())
  return new Response('{}', { headers: { 'content-type': 'application/json' } })
}

const modernCall = callTemplate(MODERN, 'echo')
const legacyCall = callTemplate(LEGACY, 'echo')
const list = listTemplate(MODERN)
const waitingCall = callTemplate(MODERN, 'waits')
const hangingCall = callTemplate(MODERN, 'hangs')

/** Each answered in full, with status 200. */
const COMPLETED = [modernCall, legacyCall, modernCall, legacyCall, modernCall, legacyCall, list]

async function serveTen(fetch: (request: Request) => Promise<Response>): Promise<void> {
  for (const template of COMPLETED) {
    const response = await fetch(toRequest(template))
    await response.text()
    if (response.status !== 200) throw new Error(`Status ${response.status} for ${template.init.body}`)
  }
  for (const template of [modernCall, waitingCall, hangingCall]) {
    client = new AbortController()
    if (template === modernCall) client.abort()
    const response = await fetch(toRequest(template, client.signal))
    // Nobody reads the answer to a client that left; whether its body is whole is not this script's business.
    await response.body?.cancel().catch(() => {})
  }
}

/** Finalizers run between turns and free more, so one collection is not enough. */
async function usedHeapBytes(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await setImmediate()
    globalThis.gc!()
  }
  return process.memoryUsage().heapUsed
}

const [subject, requests] = process.argv.slice(2)
const fetch = subject === 'mayfly' ? (request: Request) => server.fetch(request) : answerNothing
const points: { x: number; y: number }[] = []
for (let served = 10; served <= Number(requests); served += 10) {
  await serveTen(fetch)
  // A turn of the event loop, as between real requests: timers and finalizers get their chance.
  if (served % 1000 === 0) await setImmediate()
  if (served % (Number(requests) / 8) === 0) points.push({ x: served, y: await usedHeapBytes() })
}
console.log(JSON.stringify(points))
