/** What is wrong with an app is told to its operator, and never leaves a client without an end. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import express from 'express'
import { describe, expect, it } from 'vitest'
import { type FromNodeOptions, fromNode } from '../../../src/from-node.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { eventually } from '../../_eventually.ts'
import { legacyRequest } from '../_client.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function create(handler: Handler, options: FromNodeOptions = {}) {
  const reports: string[] = []
  const onError = (error: unknown): void => void reports.push((error as Error).message)
  const server = fromNode(handler, { log: false, onError, mcpPath: '/mcp', ...options })
  const get = (path = '/page', init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(`https://shop.example${path}`, init))
  return { server, reports, get }
}

describe('an error after the headers of a route', () => {
  const BROKEN: [string, Handler][] = [
    [
      'thrown',
      async (_request, response) => {
        response.write('some')
        await later()
        throw new Error('broke')
      },
    ],
    [
      'passed to next',
      async (...all) => {
        all[1].write('some')
        await later()
        ;(all as unknown as [unknown, unknown, (error: Error) => void])[2](new Error('broke'))
      },
    ],
    [
      'that destroys the response',
      async (_request, response) => {
        response.write('some')
        await later()
        response.destroy(new Error('broke'))
      },
    ],
    [
      'of a length that is not reached',
      async (_request, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('some')
        await later()
        throw new Error('broke')
      },
    ],
  ]

  it.each(BROKEN)('%s: the body is broken off, not ended, and it is reported once', async (_how, handler) => {
    const { get, reports } = create(handler)
    const response = await get()

    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    expect(reports).toEqual(['broke'])
  })

  it('of Express, whose own handler destroys the socket', async () => {
    const app = express()
    app.get('/page', (_request, response, next) => {
      response.write('some')
      setImmediate(() => next(new Error('broke')))
    })
    app.set('env', 'test')
    const { get, reports } = create(app)

    await expect((await get()).text()).rejects.toThrow()
    expect(reports).toEqual([expect.stringContaining('destroyed the socket')])
  })

  it('the text of the error does not reach the client', async () => {
    const { get } = create(BROKEN[0]![1])
    const error = await (await get()).text().catch((thrown: Error) => thrown)

    expect(String(error)).not.toContain('broke')
  })

  it('a client that leaves is not reported', async () => {
    const { get, reports } = create((_request, response) => void response.write('some'))
    await (await get()).body?.cancel()
    await later()

    expect(reports).toEqual([])
  })

  it('after the end of the response is reported, and the body is whole', async () => {
    const { get, reports } = create(async (_request, response) => {
      response.end('whole')
      await later()
      throw new Error('broke later')
    })

    expect(await (await get()).text()).toBe('whole')
    await eventually(() => expect(reports).toEqual(['broke later']))
  })
})

describe('what is no handler', () => {
  const EXPRESS = express()

  it.each<[string, () => unknown, RegExp]>([
    ['a Promise of an app', async () => EXPRESS, /a Promise.*await createApp/],
    ['a server of node:http', () => createServer(EXPRESS), /node:http.*without app\.listen/],
    ['a server of an SDK', () => new McpServer({ name: 'a', version: '1' }), /fromSdk/],
  ])('%s → TypeError in words', (_what, make, words) => {
    expect(() => fromNode(make() as never)).toThrow(words)
  })

  it.each<[string, () => unknown, RegExp]>([
    ['Express', () => express(), /Express.*pass the app itself/],
    ['Express, later', async () => express(), /Express.*pass the app itself/],
    ['Koa', () => ({ callback() {} }), /Koa.*app\.callback\(\)/],
    ['Fastify', async () => ({ routing() {} }), /Fastify.*app\.routing/],
    ['Nest', async () => ({ getHttpAdapter() {} }), /Nest.*getInstance/],
    ['a handler', () => (_req: unknown, _res: unknown) => {}, /another function/],
    ['a server of an SDK', () => new McpServer({ name: 'a', version: '1' }), /fromSdk/],
  ])('a function that creates %s → 502 in words, on each path', async (_what, factory, words) => {
    const { server, get, reports } = create(factory)
    const answers = [await server.fetch(legacyRequest('ping')), await get()]

    for (const answer of answers)
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringMatching(words)])
    await eventually(() =>
      expect(reports).toEqual([expect.stringMatching(words), expect.stringMatching(words)]),
    )
  })

  it('a handler may return what it likes once it has answered, or nothing', async () => {
    for (const result of [EXPRESS, () => {}, undefined, 7]) {
      const { get, reports } = create(async (_request, response) => {
        if (result === EXPRESS) response.end('done')
        else void later().then(() => response.end('done'))
        return result
      })
      expect(await (await get()).text()).toBe('done')
      expect(reports).toEqual([])
    }
  })

  it.each([
    ['an app', express()],
    ['a handler', (_req: unknown, _res: unknown) => {}],
  ])('%s given to fromSdk → TypeError that names fromNode', (_what, given) => {
    expect(() => fromSdk(given as never)).toThrow(/fromNode/)
  })
})

describe('sessions in the memory of the app', () => {
  it('are told once, with what to set', async () => {
    const { server, reports } = create((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'a' })
        .end('{"jsonrpc":"2.0","id":1,"result":{}}'),
    )
    const answers = [await server.fetch(legacyRequest('ping')), await server.fetch(legacyRequest('ping'))]

    expect(answers.map(({ status, headers }) => [status, headers.get('mcp-session-id')])).toEqual([
      [200, null],
      [200, null],
    ])
    await eventually(() => expect(reports).toEqual([expect.stringMatching(/sessionIdGenerator: undefined/)]))
  })
})
