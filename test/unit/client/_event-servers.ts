/** Servers of events on loopback: ours behind a front whose processes come and go, and one that answers as it is told. */
import type { ServerResponse } from 'node:http'
import { expect, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import type { EventStream, EventStreamSettings, MCPClientError, ReceivedEvent } from '../../../src/client.ts'
import { isObject } from '../../../src/definition/is-object.ts'
import { MCPServer } from '../../../src/index.ts'
import { createEvent, createMemoryEvents, type EventsOptions, events } from '../../../src/mcp-events.ts'
import { createClient, listen, startFetchServer } from './_servers.ts'

const TOKEN = 'a-token-of-alice-thirty-two-characters'
export const NOTE = { name: 'note.created' }

const note = createEvent({
  id: 'note.created',
  description: 'A new note',
  payloadSchema: z.object({ text: z.string() }),
})

/** A front over HTTP, and behind it one process after the other, with one store. */
export async function start(options: Partial<EventsOptions> = {}) {
  const store = createMemoryEvents()
  const make = (): MCPServer =>
    new MCPServer({
      id: 'notes',
      name: 'Notes',
      version: '1.0.0',
      log: false,
      auth: staticTokens([{ token: TOKEN, clientId: 'alice' }]),
      events: events({ types: { note }, store, streamIntervalMs: 5, ...options }),
    })
  const front = {
    process: make(),
    /** The parameters of the streams so far. */
    asked: [] as { cursor: string | null; maxAgeMs?: number }[],
    /** The streams that are open. */
    open: new Set<ReadableStreamDefaultController>(),
  }
  const fetch = async (request: Request): Promise<Response> => {
    const { method, params } = await request.clone().json()
    const response = await front.process.fetch(request)
    if (method !== 'events/stream' || !response.headers.get('content-type')?.includes('event-stream'))
      return response
    front.asked.push(params)
    const reader = response.body!.getReader()
    let stream: ReadableStreamDefaultController
    const body = new ReadableStream({
      start: (controller) => {
        stream = controller
        front.open.add(controller)
      },
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        front.open.delete(controller)
        controller.close()
      },
      cancel(reason) {
        front.open.delete(stream)
        return reader.cancel(reason)
      },
    })
    return new Response(body, response)
  }
  const reported: MCPClientError[] = []
  const url = await startFetchServer({ fetch })
  const connect = () =>
    createClient({
      id: crypto.randomUUID(),
      servers: { notes: { url, token: TOKEN } },
      onError: (error) => void reported.push(error),
    })
  const client = connect()
  return {
    client,
    /** Another client, as in another process. */
    connect,
    front,
    reported,
    stream: (settings?: EventStreamSettings, selection: object = {}) =>
      client.events.stream('notes', { ...NOTE, ...selection }, settings),
    emit: (text: string) => front.process.events.emit('note.created', { text }, { eventId: text }),
    /** The process ends its streams in order, and another one takes over. */
    async restart() {
      const { process } = front
      front.process = make()
      await process.close()
    },
    /** The connections break. */
    cut() {
      for (const controller of front.open) controller.error(new Error('cut'))
      front.open.clear()
    },
  }
}

/** The first `next()` begins the stream: what is emitted after this is in it. */
export async function begin(stream: EventStream, { front }: Awaited<ReturnType<typeof start>>) {
  const first = stream.next()
  first.catch(() => {})
  await vi.waitFor(() => expect(front.open.size).toBe(1), 10_000)
  return { first }
}

export const idOf = ({ value }: IteratorResult<ReceivedEvent, undefined>) => value?.eventId

const META = (id: unknown) => ({ 'io.modelcontextprotocol/subscriptionId': id })

/** What a server of the modern era says of itself. */
export const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: { events: {} },
  serverInfo: { name: 's', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
  resultType: 'complete',
}

/** A server of the modern era that answers `events/stream` with `script`: in order, unless it returns `stay` or an error. */
export async function startScripted(
  script: (
    send: (kind: string, params: object) => void,
    params: { cursor: unknown },
    response: ServerResponse,
  ) => unknown,
  limits: { readonly maxResponseBytes?: number } = {},
) {
  const asked: unknown[] = []
  const url = await listen(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method, params } = text === '' ? {} : JSON.parse(text)
    if (id === undefined) return void response.writeHead(405).end()
    if (method === 'server/discover') {
      const result = DISCOVERED
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    asked.push(params.cursor)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (message: object) =>
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
    const send = (kind: string, sent: object) =>
      write({ method: `notifications/events/${kind}`, params: { ...sent, _meta: META(id) } })
    const ending = await script(send, params, response)
    if (ending === 'stay') return
    write({ id, ...(isObject(ending) ? { error: ending } : { result: { resultType: 'complete' } }) })
    response.end()
  })
  const reported: MCPClientError[] = []
  const { events: client } = createClient({
    servers: { other: { url } },
    ...limits,
    onError: (error) => void reported.push(error),
  })
  return { asked, reported, stream: (settings = {}) => client.stream('other', { name: 'a' }, settings) }
}

export const event = (eventId: string, more: object = {}) => ({
  eventId,
  name: 'a',
  timestamp: '2026-11-30T00:00:00Z',
  data: {},
  ...more,
})
