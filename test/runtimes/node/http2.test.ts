/** `nodeListener` in a server for HTTP/2, whose requests have other headers, and whose streams end each by itself. */
import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createTool, MCPServer } from 'mayfly-mcp'
import { createSessions, nodeListener } from 'mayfly-mcp/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const VERSION = '2025-11-25'
const stopped = vi.fn()

const create = (): MCPServer =>
  new MCPServer({
    name: 'Shop',
    version: '1.0.0',
    log: false,
    tools: {
      one: createTool({ id: 'one', execute: () => 'text' }),
      steps: createTool({
        id: 'steps',
        execute: async (_input, ctx) => {
          ctx.reportProgress({ progress: 1, total: 2 })
          await new Promise((resolve) => setTimeout(resolve, 10))
          return 'done'
        },
      }),
      waits: createTool({
        id: 'waits',
        execute: async (_input, ctx) => {
          ctx.reportProgress({ progress: 1, total: 2 })
          await once(ctx.signal, 'abort')
          stopped()
          return ''
        },
      }),
    },
  })

let server: Http2Server
let client: ClientHttp2Session
const start = async (served: Parameters<typeof nodeListener>[0]): Promise<void> => {
  server = createServer(nodeListener(served) as never)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}
beforeEach(() => stopped.mockClear())
afterEach(() => {
  client.close()
  server.close()
})

const open = (message: object, headers: object = {}) => {
  const request = client.request({
    ':method': 'POST',
    ':path': '/mcp',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    ...headers,
  })
  request.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
  return request
}

async function send(message: object, headers: object = {}) {
  const request = open(message, headers)
  const [head] = (await once(request, 'response')) as [{ readonly [name: string]: unknown }]
  return { status: head[':status'], head, body: await text(request) }
}

const call = (name: string): object => ({
  id: 1,
  method: 'tools/call',
  params: { name, _meta: { progressToken: 1 } },
})

describe('over HTTP/2', () => {
  it('calls are answered, several at once', async () => {
    await start(create())
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(call('one'))))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(JSON.parse(body).result.content).toEqual([{ type: 'text', text: 'text' }])
    }
  })

  it('a call with notifications is a stream, and one that its client ends is aborted, with none of the others', async () => {
    await start(create())
    const { head, body } = await send(call('steps'))
    expect(head['content-type']).toBe('text/event-stream')
    expect(body).toMatch(/notifications\/progress.*\n\n.*"done"/s)

    const left = open(call('waits'))
    const stays = open(call('waits'))
    await Promise.all([left, stays].map((request) => once(request, 'response')))
    left.close(constants.NGHTTP2_CANCEL)
    await vi.waitFor(() => expect(stopped).toHaveBeenCalledTimes(1))
    expect((await send(call('one'))).status).toBe(200)
    expect(stopped).toHaveBeenCalledTimes(1)
    stays.close(constants.NGHTTP2_CANCEL)
    await vi.waitFor(() => expect(stopped).toHaveBeenCalledTimes(2))
  })

  it('a foreign authority or origin → 403 [guard.rebinding]', async () => {
    await start(create())
    expect((await send({ id: 1, method: 'ping' }, { ':authority': 'evil.example' })).status).toBe(403)
    expect((await send({ id: 1, method: 'ping' }, { origin: 'https://evil.example' })).status).toBe(403)
  })

  it('a client has a session, and Node warns of no header', async () => {
    const warned: unknown[] = []
    const warn = (warning: Error): void => void warned.push(warning.name)
    process.on('warning', warn)
    const sessions = createSessions(create())
    await start(sessions)
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'a', version: '1' } }
    const { status, head } = await send({ id: 1, method: 'initialize', params })
    expect(status).toBe(200)
    const session = { 'mcp-session-id': head['mcp-session-id'] }
    expect((await send({ method: 'notifications/initialized' }, session)).status).toBe(202)
    expect((await send(call('steps'), session)).body).toContain('"done"')
    await sessions.close()
    process.off('warning', warn)
    expect(warned).toEqual([])
  })
})
