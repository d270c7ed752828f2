/** `startHTTP` and `startSSE` as documented, and request targets that are not a plain path. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closeSessions, startHTTP } from '../../../adapters/node.ts'
import { startSSE } from '../../../adapters/node-mastra.ts'
import { MCPServer } from '../../../src/index.ts'

const server = new MCPServer({ name: 'Shop', version: '1.0.0', log: false })

const STARTS = {
  startHTTP: (req: IncomingMessage, res: ServerResponse) =>
    startHTTP({ server, httpPath: '/mcp', req, res, options: { serverless: true } }),
  startSSE: (req: IncomingMessage, res: ServerResponse) =>
    startSSE({ server, ssePath: '/sse', messagePath: '/message', req, res }),
}

/** The status line for a request target that `fetch` would not send. */
async function statusOf(start: keyof typeof STARTS, target: string): Promise<string> {
  const faults: unknown[] = []
  const http = createServer((req, res) => {
    STARTS[start](req, res).catch((error) => {
      faults.push(error)
      res.destroy()
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await closeSessions(server)
    http.closeAllConnections()
    http.close()
  })
  const socket = connect((http.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.includes('\r\n')) break
  }
  expect(faults).toEqual([])
  return text.slice(9, 12)
}

describe.each(Object.keys(STARTS) as (keyof typeof STARTS)[])('%s without `url`', (start) => {
  it.each(['//', '///', '//[', '//evil.example/mcp', '/%', '/?//['])('GET %s → 404', async (target) => {
    expect(await statusOf(start, target)).toBe('404')
  })

  it.each(['*', 'http://localhost/mcp', 'http://['])('GET %s → 400', async (target) => {
    expect(await statusOf(start, target)).toBe('400')
  })
})

it('the paths are served', async () => {
  expect(await statusOf('startHTTP', '/mcp?x=1')).toBe('405')
  expect(await statusOf('startSSE', '/sse')).toBe('200')
})
