/** Ways to a connection that lasts besides its messages: streams that are opened, resumed and ended, other callers, broken stores. */
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js'
import { describe, expect, it } from 'vitest'
import { createSessions, type SessionsOptions, serve } from '../../adapters/node.ts'
import { bearer } from '../../src/auth.ts'
import { MCPServer } from '../../src/index.ts'
import { eventually } from '../_eventually.ts'
import * as clients from './_clients.ts'
import { IMPLEMENTED, toCall } from './_entries.ts'
import { FRONTS } from './_fronts.ts'
import { Exchange, type HttpRequest } from './_http.ts'
import { createOurs, type Guarded } from './_ours.ts'
import { Probe } from './_probe.ts'
import { startProcess } from './_stdio.ts'
import { watchTests } from './_watched.ts'

const { onEnd, starting } = watchTests()

const STREAM = { accept: 'text/event-stream' }
const JSON_BODY = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const SAY = toCall(IMPLEMENTED.session, 'say')
const WAIT = toCall(IMPLEMENTED.session, 'wait')

const body = (id: number, { method, params }: clients.Call): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const INITIALIZE = body(1, {
  method: 'initialize',
  params: {
    protocolVersion: clients.LEGACY,
    capabilities: {},
    clientInfo: { name: 'guards', version: '1' },
  },
})

async function ended(request: HttpRequest): Promise<Exchange> {
  const exchange = new Exchange(request)
  await exchange.done
  return exchange
}

/** Sessions, and one that `token` has opened. */
async function openSession(guarded: Guarded = {}, token?: string, options: SessionsOptions = {}) {
  const probe = new Probe()
  const sessions = createSessions(createOurs(probe, guarded), options)
  const { port, close } = await serve(sessions, { port: 0 })
  onEnd(close)
  const open = async (as = token): Promise<string> => {
    const exchange = await ended({
      port,
      path: '/mcp',
      headers: { ...JSON_BODY, ...bearing(as) },
      body: INITIALIZE,
    })
    return String(exchange.headers['mcp-session-id'])
  }
  const id = await open()
  probe.forget()
  const begin = (request: Partial<HttpRequest>): Exchange =>
    new Exchange({
      port,
      path: '/mcp',
      ...request,
      headers: {
        'mcp-session-id': id,
        'mcp-protocol-version': clients.LEGACY,
        ...bearing(token),
        ...request.headers,
      },
    })
  const send = async (request: Partial<HttpRequest>): Promise<Exchange> => {
    const exchange = begin(request)
    await exchange.done
    return exchange
  }
  return { probe, sessions, id, open, begin, send }
}

const bearing = (token: string | undefined) => ({ authorization: token && `Bearer ${token}` })

describe('a session', () => {
  it.each([
    ['GET', { method: 'GET', headers: STREAM }],
    ['DELETE', { method: 'DELETE' }],
    ['POST', { headers: JSON_BODY, body: body(2, SAY) }],
  ])(
    '%s: Host, Origin, headers and token are guarded, and it belongs to its caller',
    async (method, request) => {
      const http = { allowedHosts: ['127.0.0.1'], maxHeaderBytes: 2000 }
      const { probe, sessions, send } = await openSession({ auth: true, http }, 'use')
      const refused: [HttpRequest['headers'], number][] = [
        [{ host: 'evil.example' }, 403],
        [{ origin: 'https://evil.example' }, 403],
        [{ x: 'x'.repeat(2000) }, 431],
        [bearing(undefined), 401],
        [bearing('nonsense'), 401],
        [bearing('admin'), 404],
        [{ 'mcp-session-id': 'another' }, 404],
      ]
      for (const [headers, status] of refused) {
        const answer = await send({
          ...request,
          headers: { ...(request as Partial<HttpRequest>).headers, ...headers },
        })
        expect(answer.status, JSON.stringify(headers)).toBe(status)
      }
      expect(sessions.size).toBe(1)
      expect(probe.happened).toEqual([])
      expect(probe.log.map(({ status, httpMethod }) => [httpMethod, status])).toEqual(
        refused.map(([, status]) => [method, status]),
      )
      const audited = probe.audit.map(({ status, outcome }) => [outcome, status])
      expect(audited).toEqual(method === 'POST' ? refused.map(([, status]) => ['refused', status]) : [])
    },
  )

  it('its stream and its end are counted once each, and have a line in the log', async () => {
    const { probe, begin, send } = await openSession({ rate: true })
    const stream = begin({ method: 'GET', headers: STREAM })
    await stream.until(() => stream.status !== undefined)
    expect(stream.status).toBe(200)
    expect(probe.counted).toHaveLength(1)
    expect((await send({ method: 'DELETE' })).status).toBe(200)
    await stream.done
    expect(probe.counted).toHaveLength(2)
    expect(probe.log.map(({ httpMethod, status }) => [httpMethod, status])).toEqual([
      ['GET', 200],
      ['DELETE', 200],
    ])
  })

  it('over the rate, none of its methods gets through', async () => {
    const { probe, sessions, send } = await openSession({ rate: true })
    probe.allowed = 0
    const answers = await Promise.all([
      send({ method: 'GET', headers: STREAM }),
      send({ method: 'DELETE' }),
      send({ headers: JSON_BODY, body: body(2, SAY) }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429])
    expect(sessions.size).toBe(1)
  })

  it('nobody hears on a stream that they resume what another session was told', async () => {
    const { begin, open } = await openSession({}, undefined, {
      eventStore: new InMemoryEventStore() as never,
    })
    const told = begin({ headers: JSON_BODY, body: body(2, SAY) })
    await told.done
    const [, eventId] = /^id: (.+)$/m.exec(told.text)!
    const another = await open()
    const resume = (id: string): Exchange =>
      begin({ method: 'GET', headers: { ...STREAM, 'mcp-session-id': id, 'last-event-id': eventId } })
    const foreign = resume(another)
    await foreign.done
    expect(foreign.status).toBeGreaterThanOrEqual(400)
    expect(foreign.text).not.toContain('said')
  })

  it('a store of events that fails is reported, ends no call, and its reason reaches no client', async () => {
    const fail = () => Promise.reject(new Error('postgres://user:hunter2@10.0.0.7/db'))
    const eventStore = { storeEvent: fail, replayEventsAfter: fail, getStreamIdForEventId: fail }
    const { probe, send, sessions } = await openSession({}, undefined, { eventStore })
    expect(sessions.size).toBe(1)
    const said = await send({ headers: JSON_BODY, body: body(2, SAY) })
    expect(said.messages.at(-1)?.result).toBeDefined()
    expect(probe.reports.length).toBeGreaterThan(0)
    const resumed = await send({ method: 'GET', headers: { ...STREAM, 'last-event-id': '1' } })
    expect(resumed.status).toBeGreaterThanOrEqual(400)
    expect(said.text + resumed.text).not.toContain('hunter2')
  })

  it.each(['onsessioninitialized', 'onsessionclosed'])(
    '%s that throws is reported, and ends nothing',
    async (hook) => {
      const { probe, send, sessions } = await openSession({}, undefined, {
        [hook]: () => {
          throw new Error('hook failed')
        },
      })
      expect((await send({ headers: JSON_BODY, body: body(2, SAY) })).messages[0]?.result).toBeDefined()
      expect((await send({ method: 'DELETE' })).status).toBe(200)
      expect(sessions.size).toBe(0)
      // The first was reported before what it took to connect was forgotten.
      if (hook === 'onsessionclosed') expect(probe.reports).toEqual(['hook failed'])
    },
  )

  it('every call aborts when it ends', async () => {
    const { probe, begin, send } = await openSession({ http: { maxConcurrentCalls: 2 } })
    const calls = [7, 8].map((id) => begin({ headers: JSON_BODY, body: body(id, WAIT) }))
    await eventually(() => expect(probe.count('wait')).toBe(2))
    await send({ method: 'DELETE' })
    await eventually(() => expect(probe.count('aborted')).toBe(2))
    await Promise.all(calls.map(({ done }) => done))
  })

  it('a client that drops its request is no fault of the server, and its call goes on', async () => {
    const { probe, begin, send } = await openSession({ http: { maxConcurrentCalls: 1 } })
    const dropped = begin({ headers: JSON_BODY, body: body(7, WAIT) })
    await eventually(() => expect(probe.count('wait')).toBe(1))
    dropped.destroy()
    await dropped.done
    probe.release()
    await eventually(async () => {
      const { messages } = await send({ headers: JSON_BODY, body: body(8, SAY) })
      expect(messages[0]?.result).toBeDefined()
    })
    expect(probe.count('aborted')).toBe(0)
    expect(probe.reports).toEqual([])
  })

  it('an id that cannot be made is reported, and its reason reaches no client', async () => {
    const probe = new Probe()
    const sessionIdGenerator = (): never => {
      throw new Error('no more entropy')
    }
    const sessions = createSessions(createOurs(probe, {}), { sessionIdGenerator })
    const { port, close } = await serve(sessions, { port: 0 })
    onEnd(close)
    const opening = await ended({ port, path: '/mcp', headers: JSON_BODY, body: INITIALIZE })
    expect(opening.status).toBeGreaterThanOrEqual(400)
    expect(opening.text).not.toContain('entropy')
    expect(probe.reports).toEqual(['no more entropy'])
    expect(probe.log).toHaveLength(1)
    expect(sessions.size).toBe(0)
  })

  it('that a limit refuses is none', async () => {
    const { probe, sessions, begin, open } = await openSession({ http: { maxConcurrentCalls: 1 } })
    begin({ headers: JSON_BODY, body: body(7, WAIT) })
    await eventually(() => expect(probe.count('wait')).toBe(1))
    await open()
    await eventually(() => expect(sessions.size).toBe(1))
    probe.release()
  })
})

const SSE_FRONTS = ['sse', 'honoSse'] as const

describe.each(SSE_FRONTS)('HTTP+SSE (%s)', (front) => {
  const entry = IMPLEMENTED[front]

  it('the stream is guarded as its messages are, and has a line in the log', async () => {
    const http = { allowedHosts: ['127.0.0.1'], maxHeaderBytes: 2000 }
    const { probe, ...started } = await starting(entry)({ auth: true, http, rate: true })
    const { port, path } = started.front!
    const open = (headers: HttpRequest['headers']) =>
      new Exchange({ port, path, method: 'GET', headers: { ...STREAM, ...headers } })
    const refused: [HttpRequest['headers'], number][] = [
      [{ host: 'evil.example' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ x: 'x'.repeat(2000) }, 431],
      [{}, 401],
      [bearing('nonsense'), 401],
    ]
    for (const [headers, status] of refused) {
      const stream = open(headers)
      await stream.done
      expect(stream.status, JSON.stringify(headers)).toBe(status)
    }
    probe.forget()
    const stream = open(bearing('use'))
    await stream.until(() => stream.endpoint !== undefined)
    expect(probe.verified).toBe(1)
    expect(probe.counted).toHaveLength(1)
    expect(probe.log).toMatchObject([{ httpMethod: 'GET', status: 200 }])
    stream.destroy()
  })

  it('messages of another caller → 404, and they run nothing', async () => {
    const { probe, ...started } = await starting(entry)({ auth: true })
    const { port, path } = started.front!
    const stream = new Exchange({ port, path, method: 'GET', headers: { ...STREAM, ...bearing('use') } })
    await stream.until(() => stream.endpoint !== undefined)
    const posted = await ended({
      port,
      path: stream.endpoint!,
      headers: { ...JSON_BODY, ...bearing('admin') },
      body: body(1, SAY),
    })
    expect(posted.status).toBe(404)
    expect(probe.happened).toEqual([])
    stream.destroy()
  })

  it.each(['5', '{}', '[]', `[${body(1, SAY)}]`, '{"jsonrpc":"1.0","id":1,"method":"ping"}'])(
    '%s is refused with 400, a line in the log and an entry in the audit trail',
    async (text) => {
      const { probe, connect, ...started } = await starting(entry)()
      const { port, path } = started.front!
      const stream = new Exchange({ port, path, method: 'GET', headers: STREAM })
      await stream.until(() => stream.endpoint !== undefined)
      probe.forget()
      const posted = await ended({ port, path: stream.endpoint!, headers: JSON_BODY, body: text })
      expect(posted.status).toBe(400)
      expect(probe.log).toMatchObject([{ status: 400, httpMethod: 'POST' }])
      expect(probe.audit).toHaveLength(1)
      expect(probe.audit[0]!.outcome).not.toBe('done')
      stream.destroy()
    },
  )

  it('a message with a member that no revision has is served, as without a stream', async () => {
    const { connect, ...started } = await starting(entry)()
    const { port, path } = started.front!
    const stream = new Exchange({ port, path, method: 'GET', headers: STREAM })
    await stream.until(() => stream.endpoint !== undefined)
    const more = '{"jsonrpc":"2.0","id":1,"method":"ping","more":1}'
    const posted = await ended({ port, path: stream.endpoint!, headers: JSON_BODY, body: more })
    expect(posted.status).toBe(202)
    await stream.until(() => stream.messages.length > 0)
    expect(stream.messages[0]).toMatchObject({ id: 1, result: {} })
    stream.destroy()
  })
})

it.each(SSE_FRONTS)('a verifier that throws on %s → 500, and the process goes on', async (front) => {
  const probe = new Probe()
  const auth = bearer(() => {
    throw new Error('boom')
  })
  const server = new MCPServer({ id: 'throws', name: 'Throws', version: '1.0.0', auth, ...probe.write })
  const { port, path, close } = await FRONTS[front](server)
  onEnd(close)
  for (const method of ['GET', 'POST']) {
    const to = method === 'GET' ? path : '/message?sessionId=x'
    const headers = { ...JSON_BODY, ...bearing('use') }
    const answer = await ended({ port, path: to, method, headers, ...(method === 'POST' && { body: '{}' }) })
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('boom')
  }
  expect(probe.reports).toEqual(['boom', 'boom'])
})

describe('stdio', () => {
  it('lines that are no message change nothing for those that are', async () => {
    const { client, close } = await startProcess({})
    onEnd(close)
    const [answered] = await client.send([SAY], {
      body: (text) => ['{', '5', '[]', '{"jsonrpc":"1.0","id":900,"method":"ping"}', text].join('\n'),
    })
    expect(answered!.message?.result).toBeDefined()
  })
})
