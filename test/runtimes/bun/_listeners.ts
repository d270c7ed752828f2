/** Run by Bun: prints the status of a request with a foreign Host, for each way to listen and each peer. */
import { type BunServer, bun } from '../../../adapters/bun.ts'
import { MCPServer } from '../../../src/index.ts'

declare const Bun: { serve(options: object): BunServer }

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const { fetch: serve } = bun(new MCPServer({ name: 'a', version: '1', log: false }))
const seen: object[] = []
for (const hostname of [undefined, '127.0.0.1', '0.0.0.0']) {
  for (const peer of ['its own', '192.0.2.9']) {
    const served = Bun.serve({
      fetch: (request: Request, listener: BunServer) =>
        serve(request, {
          hostname: listener.hostname,
          requestIP: (one) => (peer === 'its own' ? listener.requestIP(one) : { address: peer }),
          timeout: (one, seconds) => listener.timeout(one, seconds),
          stop: () => listener.stop(),
        }),
      port: 0,
      ...(hostname !== undefined && { hostname }),
    })
    const response = await fetch(`http://127.0.0.1:${served.port}/mcp`, {
      method: 'POST',
      headers: {
        host: 'mcp.example',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: PING,
    })
    seen.push([hostname ?? 'none', peer, response.status])
    await served.stop(true)
  }
}
console.log(JSON.stringify(seen))
