/** MCP Events for a legacy client in a session, which an official client has by itself. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, it } from 'vitest'
import * as z from 'zod'
import { createSessions, serve } from '../../../adapters/node.ts'
import { createEventServer, SECRET, TOKENS, URL_A } from '../../unit/mcp-events/_events.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const LISTED = z.looseObject({
  events: z.array(z.looseObject({ name: z.string(), delivery: z.array(z.string()) })),
})
const POLLED = z.looseObject({ events: z.array(z.looseObject({ data: z.unknown() })), cursor: z.string() })

async function open() {
  const events = createEventServer()
  const { url, close } = await serve(createSessions(events.server), { port: 0 })
  cleanups.push(close)
  const client = new Client({ name: 'desktop', version: '1.0.0' })
  cleanups.push(() => client.close())
  const headers = { authorization: `Bearer ${TOKENS.alice}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  expect(transport.sessionId).toBeDefined()
  return { ...events, client }
}

const of = { name: 'incident.created', arguments: {} }

it('it lists, polls, subscribes and gets its deliveries', async () => {
  const { client, emit, titles } = await open()
  const listed = await client.request({ method: 'events/list', params: {} }, LISTED)
  const start = await client.request({ method: 'events/poll', params: { ...of, cursor: null } }, POLLED)
  const delivery = { mode: 'webhook', url: URL_A, secret: SECRET }
  await client.request(
    { method: 'events/subscribe', params: { ...of, cursor: null, delivery } },
    z.looseObject({ id: z.string() }),
  )
  await emit({ title: 'Down' })
  const next = await client.request(
    { method: 'events/poll', params: { ...of, cursor: start.cursor } },
    POLLED,
  )

  expect(listed.events).toMatchObject([{ name: 'incident.created', delivery: ['poll', 'push', 'webhook'] }])
  expect(next.events).toMatchObject([{ data: { title: 'Down' } }])
  expect(titles()).toEqual(['Down'])
})

it('it gets a stream', async () => {
  const { client, emit } = await open()
  const received: { method: string; params?: object | undefined }[] = []
  client.fallbackNotificationHandler = async (notification) => void received.push(notification)
  const methods = (): string[] => received.map(({ method }) => method)
  const stopping = new AbortController()
  const stream = client
    .request({ method: 'events/stream', params: { ...of, cursor: null } }, z.looseObject({}), {
      signal: stopping.signal,
    })
    .catch((error: unknown) => String(error))
  await expect.poll(methods).toEqual(['notifications/events/active'])
  await emit({ title: 'Down' })
  await expect.poll(methods).toContain('notifications/events/event')
  expect(received.at(-1)).toMatchObject({ params: { data: { title: 'Down' } } })
  stopping.abort()
  expect(await stream).toMatch(/abort/i)
})
