/** Answers that would take a client's memory, its time or its place in the protocol. */
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MCPClientConfig, MCPClientError } from '../../../src/client.ts'
import {
  crossed,
  deaf,
  deafOverSse,
  dripping,
  drippingPage,
  endlessEvent,
  endlessEvents,
  endlessJson,
  endlessLines,
  endlessList,
  failing,
  gzipBomb,
  hugeJson,
  keeping,
  lingering,
  NO_ANSWERS,
  onCall,
  reopening,
  silent,
  unfinished,
  withSessionId,
} from '../../hostile/server/answers.ts'
import { collector, told } from '../../hostile/server/authorization.ts'
import { type Era, type HostileServer, startHostile } from '../../hostile/server/server.ts'
import { createClient } from './_servers.ts'

const MIB = 1024 * 1024

async function open(
  starting: Promise<HostileServer>,
  config: Partial<MCPClientConfig['servers'][string]> & Partial<MCPClientConfig> = {},
) {
  const server = await starting
  onTestFinished(() => server[Symbol.asyncDispose]())
  const reported: MCPClientError[] = []
  const { timeoutMs = 15_000, ...ofServer } = config
  const client = createClient({
    timeoutMs,
    servers: { evil: { url: server.url, ...ofServer } },
    onError: (error) => reported.push(error),
  })
  const call = () => client.callTool('evil', 'hello')
  return { server, client, reported, call }
}

const ERAS: readonly Era[] = ['legacy', 'modern']

describe('an answer that is too large', () => {
  it.each<[string, () => Promise<HostileServer>]>([
    ['JSON without end', () => endlessJson()],
    ['JSON without end, modern', () => endlessJson('modern')],
    ['a line without end', () => endlessEvent()],
    ['a line without end, modern', () => endlessEvent('modern')],
    ['lines without end', () => endlessLines()],
    ['comments without end', () => endlessLines(': still here')],
    ['what unpacks without end', gzipBomb],
    ['9 MiB', () => hugeJson(9 * MIB)],
  ])('%s → RESPONSE_TOO_LARGE, and no more is taken than the limit', async (_what, start) => {
    const { server, call } = await open(start())
    const before = process.memoryUsage.rss()

    await expect(call()).rejects.toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      server: 'evil',
      operation: 'tools/call',
      message: expect.stringContaining('maxResponseBytes'),
    })

    // The sockets of both sides hold some more.
    expect(server.sentBytes()).toBeLessThan(24 * MIB)
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MIB)
  })

  it.each([
    [202, 'text/event-stream'],
    [400, 'text/event-stream'],
    [405, 'text/event-stream'],
    [500, 'text/event-stream'],
    [200, 'text/event-stream-of-mine'],
    [200, 'text/event-stream, application/json'],
    [200, 'text/event-stream;charset'],
  ] as const)(
    'events without end that are %d and %s → an error, and no more is taken',
    async (status, type) => {
      const { server, call } = await open(endlessEvents(status, type), { timeoutMs: 4000 })
      const before = process.memoryUsage.rss()

      await expect(call()).rejects.toMatchObject({
        code: expect.stringMatching(/^(RESPONSE_TOO_LARGE|REQUEST_FAILED|TIMEOUT)$/),
      })

      const isRead = type === 'text/event-stream;charset'
      if (!isRead) expect(server.sentBytes()).toBeLessThan(24 * MIB)
      // Without end it would be gigabytes; what is not collected yet is in the figure, too.
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * MIB)
    },
  )

  it('the limit is an option, of the client and of a server', async () => {
    const start = () => hugeJson(100_000)
    const { client, server } = await open(start())
    expect(await client.callTool('evil', 'hello')).toMatchObject({ content: [{ type: 'text' }] })

    for (const config of [
      { id: 'small', servers: { evil: { url: server.url } }, maxResponseBytes: 50_000 },
      { servers: { evil: { url: server.url, maxResponseBytes: 50_000 } } },
    ]) {
      await expect(createClient(config).callTool('evil', 'hello')).rejects.toMatchObject({
        code: 'RESPONSE_TOO_LARGE',
        message: expect.stringContaining('50000 bytes'),
      })
    }
    for (const maxResponseBytes of [0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
      expect(() => createClient({ servers: {}, maxResponseBytes })).toThrow(/\bmaxResponseBytes\b.* must be/)
    }
  })

  it('a stream may be longer than the limit, if no event of it is', async () => {
    const { call } = await open(
      onCall(async (exchange) => {
        const send = exchange.events()
        const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }
        const block = `: ${'c'.repeat(2000)}\n\ndata: ${JSON.stringify(log)}\n\n`.repeat(10)
        for (let sent = 0; sent < 50; sent++) exchange.response.write(block)
        send({ jsonrpc: '2.0', id: exchange.message?.id, result: { content: [] } })
        exchange.response.end()
      }),
      { maxResponseBytes: 50_000 },
    )

    expect(await call()).toEqual({ content: [] })
  })

  it('every way that lines may end is understood, wherever the chunks are cut', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const { call } = await open(
        onCall(async ({ response, message }) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          const answer = {
            jsonrpc: '2.0',
            id: message?.id,
            result: { content: [{ type: 'text', text: 'é' }] },
          }
          const text = [
            ': x',
            'event: message',
            ...JSON.stringify(answer, null, 1)
              .split('\n')
              .map((line) => `data: ${line}`),
            '',
            ': after',
            '',
          ]
          for (const byte of Buffer.from(`${text.join(end)}${end}`)) {
            response.write(Buffer.from([byte]))
            await new Promise((resolve) => setImmediate(resolve))
          }
          response.end()
        }),
      )

      expect(await call(), JSON.stringify(end)).toMatchObject({ content: [{ text: 'é' }] })
    }
  })

  it('a list over all its pages counts as one answer', async () => {
    const { client } = await open(endlessList(10, 'd'.repeat(100_000)), { maxResponseBytes: 3 * MIB })

    expect(await client.listTools()).toEqual({})

    expect(client.errors.evil).toMatchObject({ code: 'RESPONSE_TOO_LARGE', operation: 'tools/list' })
  })

  it('of resources that may be kept, no more than one answer’s worth is', async () => {
    const { server, client } = await open(keeping(400_000, 1e9), { maxResponseBytes: MIB })
    const read = async (name: number) => {
      const before = server.seen.length
      const { contents } = await client.resources.read('evil', `news://${name}`)
      expect(contents).toMatchObject([{ uri: `news://${name}` }])
      return server.seen.length > before ? 'asked' : 'kept'
    }

    const reads: string[] = []
    for (const name of [1, 1, 2, 3, 4, 4, 3, 2, 1, 1]) reads.push(await read(name))

    expect(reads.join(' ')).toBe('asked kept asked asked asked kept kept asked asked kept')
  })

  it('of the text of an error a little is told, on one line', async () => {
    const text = `no\u001b[2J\nway\u2028\u202e${'!'.repeat(MIB)}`
    const { call } = await open(failing(500, text))

    const error = await call().catch((thrown: Error) => thrown)

    expect(error).toMatchObject({ code: 'REQUEST_FAILED' })
    expect((error as Error).message).toMatch(/no\\u001b\[2J way/)
    expect((error as Error).message.length).toBeLessThan(2000)
    expect((error as Error).message).not.toMatch(/[\p{Cc}\u2028\u202e]/u)
  })
})

describe('an error that nobody catches', () => {
  const TEXT = `\u001b[2J\u009b2J\u202e\nERROR all is lost\n    at home\u2028${'!'.repeat(MIB)}`

  it.each<[string, () => Promise<HostileServer>]>([
    ['an error over HTTP', () => failing(500, TEXT)],
    ['an error of the protocol', () => onCall(({ json, message }) => json(errorTo(message?.id, TEXT)))],
    ['JSON that is none', () => onCall(({ response }) => response.writeHead(200, JSON_TYPE).end(TEXT))],
    ['neither POST nor a stream', () => refusing(TEXT)],
  ])('is printed with its causes in few lines, without control characters: %s', async (_what, start) => {
    const { call } = await open(start())

    const error = await call().catch((thrown: unknown) => thrown)

    expect(error).toMatchObject({ name: 'MCPClientError', cause: expect.any(Error) })
    const printed = inspect(error, { depth: 10, maxStringLength: 100 })
    expect(printed.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(printed).not.toMatch(/^ERROR all is lost/m)
    expect(printed.length).toBeLessThan(15_000)
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }

const errorTo = (id: unknown, message: string) => ({ jsonrpc: '2.0', id, error: { code: -32000, message } })

const refusing = (text: string): Promise<HostileServer> =>
  startHostile(({ response }) => {
    response.writeHead(405).end(text)
    return true
  })

describe('an answer that takes its time', () => {
  it.each(ERAS)('a byte at a time (%s) → TIMEOUT, and the connection is given up', async (era) => {
    let isGone = false
    const { call } = await open(
      onCall(({ response }) => {
        response.once('close', () => {
          isGone = true
        })
        response.writeHead(200, { 'content-type': 'application/json' }).write('{')
      }, era),
      // Long enough to connect on a busy machine: it has to reach the call.
      { timeoutMs: 2000 },
    )

    await expect(call()).rejects.toMatchObject({ code: 'TIMEOUT' })

    await expect.poll(() => isGone).toBe(true)
  })

  it.each(ERAS)('dripping or silent (%s) → TIMEOUT', async (era) => {
    for (const start of [dripping, silent]) {
      const { call } = await open(start(era), { timeoutMs: 300 })

      await expect(call()).rejects.toMatchObject({ code: 'TIMEOUT' })
    }
  })

  it.each<[what: string, stays: number, start: () => Promise<HostileServer>]>([
    ['nothing', 0, deaf],
    ['nothing, over HTTP+SSE', 1, () => deafOverSse(false)],
    ['a byte at a time, over HTTP+SSE', 1, () => deafOverSse(true)],
  ])(
    'calls that are given up leave no connection behind, where they and their end are answered with %s',
    async (_what, ofTheServer, start) => {
      const { server, call } = await open(start(), { timeoutMs: 1000 })

      for (let count = 0; count < 3; count++) await expect(call()).rejects.toMatchObject({ code: 'TIMEOUT' })

      // The server's own stream, if it has one, stays.
      await expect.poll(() => server.openAnswers()).toBeLessThanOrEqual(ofTheServer)
    },
  )

  it.each([200, 401, 405, 500])(
    'a page without end (%d) in place of a stream is not kept open',
    async (status) => {
      const { server, call } = await open(drippingPage(status), { timeoutMs: 2000 })

      for (let count = 0; count < 3; count++) await expect(call()).rejects.toMatchObject({ server: 'evil' })

      await expect.poll(() => server.openAnswers()).toBe(0)
    },
  )

  it('a stream that goes on after its answer is given up', async () => {
    const { server, call } = await open(lingering())
    expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })
    await expect.poll(() => server.openAnswers()).toBe(0)
  })

  it.each(ERAS)('a stream that ends without an answer (%s) fails the call at once', async (era) => {
    const { call } = await open(unfinished(era), { timeoutMs: 15_000 })
    const startedAt = Date.now()

    await expect(call()).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('ended its response'),
    })

    expect(Date.now() - startedAt).toBeLessThan(5000)
  })
})

describe('a stream that asks to be opened again', () => {
  it.each([0, 99_999_999_999])('after %d ms: is, but not faster and faster', async (retryMs) => {
    const { server, call } = await open(reopening(retryMs), { timeoutMs: 2000 })

    await expect(call()).rejects.toMatchObject({ server: 'evil' })

    expect(server.seen.filter(({ method }) => method === 'GET').length).toBeLessThan(12)
  })

  it('no longer than there is a client', async () => {
    const { server, client, call } = await open(reopening(0), { timeoutMs: 500 })
    await call().catch(() => {})
    await client.disconnect()
    const before = server.seen.length
    await new Promise((resolve) => setTimeout(resolve, 1500))

    expect(server.seen.length).toBe(before)
  })
})

describe('what is no answer', () => {
  it.each(Object.entries(NO_ANSWERS))(
    '%s → a typed error, soon, and the next call is answered',
    async (_what, act) => {
      let isFirst = true
      const { call, reported } = await open(
        onCall((exchange) => {
          if (!isFirst) return exchange.result({ content: [{ type: 'text', text: 'Hello' }] })
          isFirst = false
          return act(exchange)
        }),
        { timeoutMs: 700 },
      )

      await expect(call()).rejects.toMatchObject({
        name: 'MCPClientError',
        code: expect.stringMatching(/^(REQUEST_FAILED|TIMEOUT|CONNECTION_FAILED)$/),
      })
      expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })

      expect(reported).toEqual([])
      expect(({} as { polluted?: true }).polluted).toBeUndefined()
    },
  )

  it('strangers’ answers and second ones are passed over', async () => {
    const { call, reported } = await open(crossed())

    expect(await call()).toMatchObject({ content: [{ text: 'Hello' }] })

    expect(reported).toEqual([])
  })

  it('a redirect to another origin is not followed', async () => {
    const elsewhere = await collector()
    onTestFinished(() => elsewhere[Symbol.asyncDispose]())
    for (const status of [301, 302, 303, 307, 308]) {
      const { call } = await open(
        onCall(({ response }) => response.writeHead(status, { location: elsewhere.url }).end()),
        { headers: { 'x-key': 'secret-key' }, token: 'secret-token' },
      )

      await expect(call()).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
    }

    expect(told(elsewhere)).toBe('[]')
  })
})

describe('a session id', () => {
  it.each(['a b', 'caf\u00e9', 'x'.repeat(5000)])('%j is refused', async (id) => {
    const { server, call } = await open(withSessionId(id))

    await expect(call()).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining('session id'),
    })

    expect(server.seen.some(({ headers }) => headers['mcp-session-id'] !== undefined)).toBe(false)
  })
})
