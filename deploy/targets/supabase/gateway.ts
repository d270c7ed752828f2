/**
 * The gateway of Supabase's Edge Functions, for local use: serves `/functions/v1/<name>/…` from a deno process that sees
 * `/<name>/…`. Run as `gateway.ts <port> <name> <deno> <file>`.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { DRAIN_MS, drain } from '../../run/drain.ts'
import { freePort, untilListening } from '../../run/port.ts'
import { startProcessGroup } from '../../run/process-group.ts'
import { DENO_OFFLINE, DENO_RUN } from '../deno/program.ts'

const PREFIX = '/functions/v1'

const [port = '', name = '', deno = '', file = ''] = process.argv.slice(2)
const functionPort = await freePort(0)
// Not in the group of this process: a signal to that lets the running calls end.
const group = startProcessGroup(
  [...DENO_RUN, file],
  {
    env: { ...process.env, ...DENO_OFFLINE, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${functionPort}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
  deno,
)
group.child.once('exit', (code) => process.exit(code ?? 1))
const server = createServer(forward)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    if (server.listening) await drain(server, DRAIN_MS)
    await group.kill()
    process.exit(0)
  })
}
await untilListening(functionPort)
server.listen(Number(port), '127.0.0.1')

function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url = '/', headers, socket } = incoming
  if (!(url === `${PREFIX}/${name}` || url.startsWith(`${PREFIX}/${name}/`))) {
    outgoing.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Function not found"}')
    return
  }
  const forwarded = request(
    {
      hostname: '127.0.0.1',
      port: functionPort,
      method,
      path: url.slice(PREFIX.length),
      headers: {
        ...headers,
        // HTTP/1.0 needs no Host.
        ...(headers.host !== undefined && { 'x-forwarded-host': headers.host }),
        'x-forwarded-proto': 'http',
        'x-forwarded-for': socket.remoteAddress,
      },
    },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
      // If the function's response fails, it must not look complete.
      response.once('error', () => outgoing.destroy())
    },
  )
  incoming.pipe(forwarded)
  outgoing.once('close', () => forwarded.destroy())
  forwarded.once('error', () => {
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(503, { 'content-type': 'application/json' }).end('{"message":"No function yet"}')
  })
}
