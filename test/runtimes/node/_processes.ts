/** What stands around Node processes in tests: a real Redis, and a proxy that sends every request to the next process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testPort } from '../../_port.ts'

export interface Running {
  readonly url: URL
  stop(): Promise<void>
}

/** A redis-server that writes nothing to disk, on a free port unless one is given. */
export async function startRedis(
  port?: number,
  settings: readonly string[] = [],
): Promise<Running & { readonly child: ChildProcess }> {
  port ??= await testPort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const options = [...own, ...settings]
  const child = spawn('redis-server', options)
  await new Promise<void>((ready, fail) => {
    let printed = ''
    child.once('error', () => fail(new Error('redis-server is missing: apt-get install -y redis-server')))
    child.once('exit', () => fail(new Error(`redis-server has ended: ${printed}`)))
    child.stdout.setEncoding('utf8').on('data', (output: string) => {
      printed += output
      if (printed.includes('Ready to accept connections')) ready()
    })
  })
  return { url: new URL(`redis://127.0.0.1:${port}`), child, stop: () => end(child) }
}

/** Sends each request to the next process, and streams both ways. */
export async function startProxy(targets: readonly URL[]): Promise<Running> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const { hostname, port } = targets[turn++ % targets.length]!
    const { method, url: path, headers } = incoming
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    incoming.pipe(forwarded)
    outgoing.once('close', () => forwarded.destroy())
    forwarded.once('error', () => outgoing.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Ends a process, and waits until it has. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
