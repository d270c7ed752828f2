/** `server.fetch` in a framework whose handlers get no `Request`: 500 that says what to write, and what it says works. */
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Koa from 'koa'
import { beforeEach, expect, it, vi } from 'vitest'
import { nodeListener } from '../../adapters/node.ts'
import { createTool } from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createServer, ENDPOINT, modernRequest } from './_client.ts'

const greet = createTool({ id: 'greet', execute: () => 'hello' })
const server = createServer({ tools: { greet } })

/** Answers one call by a real server of Node. */
async function callOver(listener: RequestListener): Promise<{ status: number; text: string }> {
  const http = createHttpServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = http.address() as AddressInfo
    const { headers, body } = modernRequest('tools/call', { name: 'greet' })
    const sent = new Headers(headers)
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: sent,
      body: await new Response(body).text(),
      signal: AbortSignal.timeout(5000),
    })
    return { status: answer.status, text: await answer.text() }
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

const printed = vi.spyOn(console, 'error')
beforeEach(() => void printed.mockReset().mockImplementation(() => {}))

const withKoa = (use: (app: Koa) => unknown): RequestListener => {
  const app = new Koa()
  app.on('error', () => {})
  use(app)
  return app.callback() as RequestListener
}

const fetchOf = (given: { fetch: unknown }) => given.fetch as never

const WRONG: readonly (readonly [string, RequestListener, RegExp])[] = [
  ['Express', express().use('/mcp', fetchOf(server)), /app\.use\('\/mcp', nodeListener\(server\)\)/],
  ['Express, a method', express().post('/mcp', fetchOf(server)), /nodeListener\(server\)/],
  ['Express, fromSdk', express().use(fetchOf(fromSdk(() => ({}) as never))), /nodeListener\(server\)/],
  ['Connect and Node', fetchOf(server), /nodeListener\(server\)/],
  [
    'Koa',
    withKoa((app) => app.use(fetchOf(server))),
    /ctx\.respond = false; nodeListener\(server\)\(ctx\.req, ctx\.res\)/,
  ],
]

it.each(WRONG)(
  '%s: server.fetch as a handler → 500 that says what to write',
  async (_name, listener, advice) => {
    const { status, text } = await callOver(listener)
    expect([status, text]).toEqual([500, expect.stringMatching(advice)])
    expect(text).not.toContain('\n')
  },
)

it.each<[string, RequestListener]>([
  ['Express', express().use('/mcp', nodeListener(server))],
  [
    'Koa',
    withKoa((app) =>
      app.use((ctx) => {
        ctx.respond = false
        nodeListener(server)(ctx.req, ctx.res)
      }),
    ),
  ],
])('%s: what it says works', async (_name, listener) => {
  expect(await callOver(listener)).toMatchObject({ status: 200, text: expect.stringContaining('hello') })
})

it('an event that has a Request → 500 that says to pass it', async () => {
  const event = { request: new Request(ENDPOINT), url: new URL(ENDPOINT) }
  const answer = await server.fetch(event as never)
  expect([answer.status, await answer.text()]).toEqual([
    500,
    expect.stringContaining('server.fetch(request)'),
  ])
})

it('the log says it once', async () => {
  const fresh = createServer()
  for (let calls = 0; calls < 3; calls++) await fresh.fetch({} as never)
  expect(printed.mock.calls).toEqual([[expect.stringContaining('server.fetch needs a Request')]])
})
