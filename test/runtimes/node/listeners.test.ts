/** Whom `serve` guards against DNS rebinding: each connection over a loopback address, on whatever address it listens. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { expect, it } from 'vitest'

async function ask(port: number, host: string): Promise<[status: number | undefined, body: string]> {
  const headers = { host, 'content-type': 'application/json' }
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/mcp', headers })
  sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return [response.statusCode, await text(response)]
}

it.each(['127.0.0.1', '0.0.0.0', '::'])(
  'listening on %s, a foreign Host over loopback → 403 that names it, a local one is served [guard.rebinding]',
  async (hostname) => {
    const server = new MCPServer({ name: 'Shop', version: '1.0.0', log: false })
    const { port, close } = await serve(server, { port: 0, hostname, env: {} })
    try {
      const [status, body] = await ask(port, `evil.example:${port}`)
      expect([status, body]).toEqual([403, expect.stringContaining(`the Host evil.example:${port}.`)])
      expect(body).toContain('http.allowedHosts')
      expect((await ask(port, `localhost:${port}`))[0]).toBe(200)
    } finally {
      await close()
    }
  },
)
