/** A request whose URL its runtime could not make: on Deno it throws, on Bun it is only the target. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { supabase } from '../../adapters/supabase.ts'
import type { LogEntry } from '../../src/index.ts'
import { type FetchServer, serveRequest } from '../../src/request/platform.ts'
import { createServer } from './_client.ts'

const UNREADABLE = {
  deno: () => {
    throw new TypeError('Invalid URL')
  },
  bun: () => '/mcp',
}

function oddRequest(runtime: keyof typeof UNREADABLE, method: string): Request {
  const request = new Request('http://localhost/mcp', {
    method,
    headers: { host: 'a b', 'content-type': 'application/json' },
    ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
  })
  return Object.defineProperty(request, 'url', { get: UNREADABLE[runtime] })
}

describe.each(['deno', 'bun'] as const)('as %s passes it', (runtime) => {
  it.each(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'])(
    '%s → 400 and a log line [guard.request-target]',
    async (method) => {
      const logged: LogEntry[] = []
      const errors: unknown[] = []
      const server = createServer({
        onError: (error) => void errors.push(error),
        log: (entry) => void logged.push(entry),
      })
      const response = await server.fetch(oddRequest(runtime, method))
      expect(response.status).toBe(400)
      expect(JSON.parse(await response.text())).toMatchObject({ error: { code: -32600 } })
      expect(logged).toMatchObject([{ httpMethod: method, status: 400, path: '' }])
      expect(errors).toEqual([])
    },
  )

  it('an app around the server is not called → 400', async () => {
    const app: FetchServer = { fetch: () => Promise.reject(new Error('called')) }
    expect((await serveRequest(app, oddRequest(runtime, 'POST'), {})).status).toBe(400)
  })

  it('the adapter of Supabase → 400', async () => {
    vi.stubGlobal('Deno', { env: { toObject: () => ({}) } })
    onTestFinished(() => void vi.unstubAllGlobals())
    expect((await supabase(createServer())(oddRequest(runtime, 'POST'))).status).toBe(400)
  })
})

it('TRACE, which no Request can be made with → 405 behind a prefix', async () => {
  vi.stubGlobal('Deno', { env: { toObject: () => ({}) } })
  onTestFinished(() => void vi.unstubAllGlobals())
  const trace = (): Request =>
    Object.defineProperty(new Request('http://localhost/functions/v1/shop/mcp'), 'method', { value: 'TRACE' })
  const server = createServer()
  expect((await supabase(server)(trace())).status).toBe(405)
  const app: FetchServer = { fetch: (request) => server.fetch(request) }
  expect((await serveRequest(app, trace(), { prefix: '/functions/v1/shop' })).status).toBe(405)
})
