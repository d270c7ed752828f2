/** What user code throws where nobody waits for it goes to the console, whatever it is: the request gets its answer, the process goes on. */
import { EventEmitter } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { bun } from '../../adapters/bun.ts'
import { lambda } from '../../adapters/lambda.ts'
import { nodeListener, serve } from '../../adapters/node.ts'
import { createOAuthMiddleware } from '../../adapters/node-mastra.ts'
import { type Auth, bearer, honoAuth } from '../../src/auth.ts'
import { MCPClient } from '../../src/client.ts'
import { textOf } from '../../src/definition/error-text.ts'
import { createMemoryBus, createTool } from '../../src/index.ts'
import { createVectorQueryTool } from '../../src/retrieval.ts'
import { createMemoryTasks, createTaskEndpoint } from '../../src/tasks.ts'
import { secretOf } from '../_secrets.ts'
import { createServer, modernRequest } from './_client.ts'
import { printsLikeNode, VALUES } from './_thrown.ts'

type Fail = () => Promise<never>

const TOKEN = 'an-access-token-of-the-test-4nT9qLw2rB7v'
const secret = secretOf('s')
const tools = (fail: Fail) => ({
  work: createTool({
    id: 'work',
    execute(_input, ctx) {
      ctx.waitUntil(fail())
      return 'done'
    },
  }),
})
const call = () => modernRequest('tools/call', { name: 'work', arguments: {} })

/** An issuer that cannot be asked, and why. */
const unreachable = (fail: Fail): Auth => ({
  ...bearer(fail),
  admit: () =>
    fail().catch((cause) => ({ ok: false, refusal: { status: 503, message: 'Later.', headers: {}, cause } })),
})

/** Every place that prints what it caught. Resolves with what its caller gets. */
const ENTRIES: { readonly [entry: string]: readonly [act: (fail: Fail) => Promise<unknown>, gets: unknown] } =
  {
    'nodeListener: the server itself': [
      async (fail) => {
        const http = createHttpServer(nodeListener({ fetch: fail, handle: fail }))
        await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
        const { port } = http.address() as AddressInfo
        const { status } = await fetch(`http://127.0.0.1:${port}/mcp`)
        http.close()
        return status
      },
      500,
    ],
    'serve: close()': [
      async (fail) => {
        const running = await serve({ fetch: fail, handle: fail, close: fail }, { port: 0 })
        await running.close()
        return 'closed'
      },
      'closed',
    ],
    createOAuthMiddleware: [
      async (fail) => {
        const guard = createOAuthMiddleware({
          oauth: {
            resource: 'https://shop.example/mcp',
            authorizationServers: ['https://issuer.example'],
            validateToken: fail,
          },
        })
        const request = { headers: { authorization: `Bearer ${TOKEN}` }, method: 'POST', url: '/mcp' }
        const response = Object.assign(new EventEmitter(), {
          statusCode: 0,
          writeHead(status: number) {
            this.statusCode = status
            return this
          },
          setHeader() {},
          end() {},
        })
        await guard(
          request as unknown as IncomingMessage,
          response as unknown as ServerResponse,
          new URL('https://shop.example/mcp'),
        )
        return response.statusCode
      },
      503,
    ],
    'bun: work after a call': [
      async (fail) => {
        const { fetch: serveBun } = bun(createServer({ tools: tools(fail) }), { env: {} })
        const listener = { requestIP: () => null, timeout() {} }
        return (await serveBun(call(), listener as never)).status
      },
      200,
    ],
    'lambda: work after a call': [
      async (fail) => {
        const request = call()
        const event = {
          version: '2.0',
          rawPath: '/mcp',
          rawQueryString: '',
          headers: Object.fromEntries(request.headers),
          requestContext: { http: { method: 'POST', path: '/mcp' }, domainName: 'mcp.example' },
          body: await request.text(),
          isBase64Encoded: false,
        }
        const answer = await lambda(createServer({ tools: tools(fail) }))(
          event as never,
          { getRemainingTimeInMillis: () => 10_000 } as never,
        )
        return (answer as { statusCode: number }).statusCode
      },
      200,
    ],
    honoAuth: [
      async (fail) => {
        const app = new Hono().use('/mcp', honoAuth(unreachable(fail)))
        const headers = { authorization: `Bearer ${TOKEN}` }
        return (await app.request('https://shop.example/mcp', { method: 'POST', headers })).status
      },
      503,
    ],
    'honoAuth: onError': [
      async (fail) => {
        const app = new Hono().use('/mcp', honoAuth(unreachable(fail), { onError: fail }))
        const headers = { authorization: `Bearer ${TOKEN}` }
        return (await app.request('https://shop.example/mcp', { method: 'POST', headers })).status
      },
      503,
    ],
    'a tool that is called directly: onOutput': [
      (fail) =>
        createTool({ id: 'direct', execute: () => 'done', onOutput: fail }).execute(
          {} as never,
        ) as Promise<unknown>,
      'done',
    ],
    createTaskEndpoint: [
      async (fail) => {
        const tasks = createMemoryTasks()
        const server = createServer({ tasks })
        Object.assign(server.tasks!, { runDue: fail })
        const endpoint = createTaskEndpoint({ server, url: 'https://shop.example/tasks', secret })
        const headers = { authorization: `Bearer ${secret}` }
        return (await endpoint.fetch(new Request('https://shop.example/tasks', { headers }))).status
      },
      503,
    ],
    'a reranker': [
      async (fail) => {
        const tool = createVectorQueryTool({
          vectorStore: { query: async () => [{ id: 'a', score: 1, metadata: { text: 'A' } }] },
          indexName: 'docs',
          model: async () => [1],
          reranker: { model: fail },
        } as never)
        const said = await tool.execute({ queryText: 'x', topK: 1 } as never)
        return JSON.stringify(said).includes('Reranking failed')
      },
      true,
    ],
    'a listener of the bus': [
      async (fail) => {
        const bus = createMemoryBus()
        await bus.subscribe(fail)
        await bus.publish({ kind: 'tools' } as never)
        return 'published'
      },
      'published',
    ],
    'MCPClient: onError': [
      async (fail) => {
        const client = new MCPClient({
          servers: {
            gone: { fetch: () => Promise.reject(new Error('gone')), url: 'https://mcp.example/mcp' },
          },
          onError: fail,
        } as never)
        const listed = await client.listTools()
        await client.disconnect()
        return listed
      },
      {},
    ],
  }

const escaped: unknown[] = []
const note = (error: unknown): void => {
  escaped.push(textOf(error))
}
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
})
afterEach(() => {
  vi.restoreAllMocks()
  escaped.length = 0
})

it.each(Object.entries(ENTRIES))(
  '%s: anything may be thrown, and is printed',
  async (_entry, [act, gets]) => {
    const printed = printsLikeNode()
    for (const [what, make] of Object.entries(VALUES)) {
      printed.mockClear()
      const got = await act(() => Promise.reject(make()))
      await new Promise((resolve) => setImmediate(resolve))
      expect(escaped.splice(0), what).toEqual([])
      expect(got, what).toEqual(gets)
      // Some places take undefined for no error.
      if (what !== 'undefined') expect(printed, what).toHaveBeenCalled()
    }
  },
)
