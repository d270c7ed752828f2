/** A call that runs while its server is asked to end, as `mayfly dev` does after each change and a machine when it stops. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { serveArtefact, withEnv } from './_artefact.ts'

/** Wrangler and `node --watch` have ways of their own. */
const names = [...targets.keys()].filter((name) => name !== 'cloudflare')

it.each(names)('%s: SIGTERM takes no new connection, and the running call is answered', async (name) => {
  let holdFirst = (_gate: ServerResponse): void => {}
  const held = new Promise<ServerResponse>((resolve) => {
    holdFirst = resolve
  })
  const gate = createServer((_request, response) => holdFirst(response))
  await once(gate.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void gate.close())
  const GATE = `http://127.0.0.1:${(gate.address() as AddressInfo).port}/`
  const served = await serveArtefact('test/runtimes/_held.ts', withEnv(targets.get(name)!, { GATE }))
  let stopped: Promise<void> | undefined
  onTestFinished(() => stopped ?? served.stop())
  const answer = call(served.url)
  answer.catch(() => {})
  const release = await held

  stopped = served.stop()
  await expect.poll(() => isOpen(Number(served.url.port)), { timeout: 5000 }).toBe(false)
  release.end('released')

  expect(await answer).toContain('released')
  await stopped
})

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function call(url: URL): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'mcp-protocol-version': '2025-06-18',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"held"}}',
  })
  return response.text()
}
