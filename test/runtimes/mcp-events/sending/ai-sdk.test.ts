/** The webhook handler of Vercel's AI SDK, over a real socket: it takes the challenge and the signatures. */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodeEventSender } from '../../../../adapters/node-events.ts'
import { signHeaders } from '../../../../src/mcp-events/deliver/sign.ts'
import { verifyEndpoint } from '../../../../src/mcp-events/deliver/verify.ts'
import { createSecret } from '../../../unit/webhook/_sender.ts'

/** Of a package of their own: a cast, since they are not there for the compiler. */
const require = createRequire(new URL('../../auth/ai-sdk/package.json', import.meta.url))
const { experimental_createMCPEventWebhook: createWebhook } = (await import(
  pathToFileURL(require.resolve('@ai-sdk/mcp')).href
)) as { experimental_createMCPEventWebhook: (options: object) => (request: Request) => Promise<Response> }

const secret = createSecret()
const events: unknown[] = []
const subscription = {
  key: 'k1',
  id: 'sub_1',
  name: 'note.created',
  arguments: {},
  definition: {},
  delivery: { mode: 'webhook', url: '', secret },
  cursor: null,
  truncated: false,
  status: 'active',
}
const handle = createWebhook({
  store: {
    get: async (key: string) => (key === 'k1' ? subscription : undefined),
    getById: async () => subscription,
    set: async () => {},
    update: async () => {},
    delete: async () => {},
  },
  onEvent: async ({ event }: { event: unknown }) => void events.push(event),
})
const server = createServer(async (request, response) => {
  const body = await text(request)
  const headers = new Headers(request.headers as Record<string, string>)
  const answer = await handle(
    new Request(`http://localhost${request.url}`, { method: 'POST', headers, body }),
  )
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?mcp_event_subscription=k1`
})
afterAll(() => void server.close())

const sender = nodeEventSender({ allowLoopback: true })
const verify = (secrets: readonly string[], subscriptionId = 'sub_1') =>
  verifyEndpoint(sender, { url, subscriptionId, secrets, timeoutMs: 5000 })

it('echoes the challenge of its own secret and subscription alone', async () => {
  expect(await verify([secret])).toEqual({ isVerified: true })
  expect(await verify([createSecret(), secret])).toEqual({ isVerified: true })
  expect(await verify([createSecret()])).toEqual({ isVerified: false, reason: 'http_4xx' })
  expect(await verify([secret], 'sub_2')).toEqual({ isVerified: false, reason: 'http_4xx' })
})

it('takes an event, also while its secret is replaced, and refuses one that was signed long ago', async () => {
  const event = {
    eventId: 'evt_1',
    name: 'note.created',
    timestamp: '2026-11-29T12:00:00Z',
    data: { text: 'a' },
  }
  const body = JSON.stringify(event)
  const send = async (secrets: readonly string[], seconds: number) => {
    const headers = {
      ...(await signHeaders(secrets, 'evt_1', seconds, body)),
      'x-mcp-subscription-id': 'sub_1',
    }
    return sender.post(url, { headers, body }, { timeoutMs: 5000 })
  }
  const now = Math.floor(Date.now() / 1000)
  expect(await send([createSecret(), secret], now)).toEqual({ status: 204 })
  expect(events).toEqual([event])
  expect(await send([secret], now - 3600)).toEqual({ status: 401 })
})
