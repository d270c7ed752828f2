/** HTTP around the protocol: methods, browsers, limits and who is refused. */
import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../contract.ts'
import { modernRequest } from '../wire.ts'

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends any Host: `fetch` would not. */
function statusForHost(url: URL, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { ...JSON_TYPE, host, 'content-length': PING.length }
    const request = httpRequest(url, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.once('error', reject)
    request.end(PING)
  })
}

/** Posts chunks without saying how long the body is; without `isEnded` it never ends. */
function postStreamed(url: URL, chunks: readonly string[], isEnded: boolean): Promise<Response> {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      if (isEnded) controller.close()
    },
  })
  // TypeScript's DOM library does not know `duplex`, without which no runtime streams a body.
  const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' }
  return fetch(url, init)
}

export function http(endpoint: Endpoint, takesStreams: boolean): void {
  describe('http', () => {
    it.each(['GET', 'DELETE'])('%s → 405 that says what is allowed [legacy.get-delete]', async (method) => {
      const headers = { accept: 'text/event-stream' }

      const response = await fetch(endpoint(), { method, headers })

      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toContain('POST')
    })

    it('a preflight allows the MCP headers and the asked-for Mcp-Param ones [cors.preflight]', async () => {
      const response = await fetch(endpoint(), {
        method: 'OPTIONS',
        headers: {
          origin: 'http://localhost:5173',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type, mcp-method, mcp-param-region',
        },
      })

      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      const allowed = response.headers.get('access-control-allow-headers')?.split(', ')
      expect(allowed).toEqual(
        expect.arrayContaining([
          'content-type',
          'mcp-method',
          'mcp-name',
          'mcp-protocol-version',
          'mcp-param-region',
        ]),
      )
    })

    it('an answer can be read by a page of a local origin [cors.response]', async () => {
      const headers = { origin: 'http://localhost:5173' }

      const response = await fetch(modernRequest(endpoint(), 'server/discover', {}, { headers }))

      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    })

    it('a page of another origin → 403 [guard.origin]', async () => {
      const headers = { origin: 'https://evil.example' }

      const response = await fetch(modernRequest(endpoint(), 'server/discover', {}, { headers }))

      expect(response.status).toBe(403)
    })

    it('a name that was rebound to this machine → 403 [guard.rebinding]', async () => {
      expect(await statusForHost(endpoint(), `evil.example:${endpoint().port}`)).toBe(403)
      expect(await statusForHost(endpoint(), `localhost:${endpoint().port}`)).toBe(200)
    })

    it('a body over the limit → 413 [http.size]', async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ping',
        params: { fill: 'x'.repeat(200_000) },
      })

      const response = await fetch(endpoint(), { method: 'POST', headers: JSON_TYPE, body })

      expect(response.status).toBe(413)
    })

    it.skipIf(!takesStreams)(
      'a body without length and without end → 413 once it is over the limit [http.size]',
      async () => {
        const response = await postStreamed(endpoint(), Array(11).fill(' '.repeat(10_000)), false)

        expect(response.status).toBe(413)
      },
    )

    it('a body that is streamed is served [http.size]', async () => {
      const response = await postStreamed(endpoint(), [PING.slice(0, 9), PING.slice(9)], true)

      expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    })

    it('another content type → 415 [http.content-type]', async () => {
      const response = await fetch(endpoint(), {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: PING,
      })

      expect(response.status).toBe(415)
    })

    it('what is not JSON → 400, -32700 [malformed.json]', async () => {
      const response = await fetch(endpoint(), { method: 'POST', headers: JSON_TYPE, body: '{"jsonrpc":' })

      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } })
    })

    it('a method the server does not have → 404, -32601 [modern.method]', async () => {
      const response = await fetch(modernRequest(endpoint(), 'no/such-method'))

      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ id: 1, error: { code: -32601 } })
    })

    it('the client’s request id is kept, and identifies no call [http.request-id]', async () => {
      const headers = { 'x-request-id': 'trace-7' }
      const whoami = () => fetch(modernRequest(endpoint(), 'tools/call', { name: 'whoami' }, { headers }))

      const responses = [await whoami(), await whoami()]

      const ids = new Set(['trace-7'])
      for (const response of responses) {
        expect(response.headers.get('x-request-id')).toBe('trace-7')
        const { result } = (await response.json()) as { result: { structuredContent: { requestId: string } } }
        ids.add(result.structuredContent.requestId)
      }
      expect(ids.size).toBe(3)
    })

    it.each(['.', 'mcp'])('a browser at %s sees the page [page.shown]', async (path) => {
      const response = await fetch(new URL(path, endpoint()), { headers: { accept: 'text/html,*/*;q=0.8' } })

      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toContain('text/html')
      const page = await response.text()
      expect(page).toContain('Contract')
      expect(page).toContain(`claude mcp add --transport http contract ${endpoint().href}`)
    })

    it('the health check answers [page.health]', async () => {
      const response = await fetch(new URL('healthz', endpoint()))

      expect(await response.json()).toEqual({ status: 'ok' })
    })
  })
}
