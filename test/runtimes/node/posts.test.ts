/** A POST that is served without `@hono/node-server` is answered, and shown to tools, as one that is served through it. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { nodeListener } from '../../../adapters/node.ts'
import { createTool, MCPServer } from '../../../src/index.ts'

/** Shows its request, then ends when the client has left if it is asked to. */
function createShown(onEnd: (aborted: boolean) => void = () => {}): MCPServer {
  const show = createTool({
    id: 'show',
    execute: async (_input, context) => {
      const { request, signal } = context
      if (request!.headers.has('x-wait')) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        onEnd(signal.aborted)
      }
      if (request!.headers.has('x-stream')) context.reportProgress({ progress: 1 })
      const { url, method, headers } = request!
      return {
        url,
        method,
        headers: [...headers],
        isReal: Object.getPrototypeOf(request) === Request.prototype,
      }
    },
  })
  return new MCPServer({ name: 'Shop', version: '1.0.0', log: false, tools: { show } })
}

const META = 'io.modelcontextprotocol'
const _meta = {
  ...{ [`${META}/protocolVersion`]: '2026-07-28', progressToken: 1 },
  ...{ [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' }, [`${META}/clientCapabilities`]: {} },
}
const bodyOf = (text: string): string =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
    params: { name: 'show', arguments: {}, _meta: { ..._meta, text } },
  })

interface Sent {
  readonly target?: string
  readonly version?: string
  readonly body?: string
  /** Default: that of the body. */
  readonly length?: string
  readonly headers?: readonly string[]
}

function textOf({
  target = '/mcp',
  version = 'HTTP/1.1',
  body = bodyOf(''),
  length,
  headers = [],
}: Sent): string {
  const hosted = headers.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost:8787']
  const lines = [
    ...hosted,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    ...['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/call', 'Mcp-Name: show', 'Connection: close'],
    length ?? `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
    ...headers,
  ]
  return `POST ${target} ${version}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

async function listen(server: Parameters<typeof nodeListener>[0]): Promise<number> {
  const http = createServer(nodeListener(server))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return (http.address() as AddressInfo).port
}

/** Without what differs in each answer. */
async function answerOf(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text, 'latin1')
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const varying = /^(?:date|x-request-id|content-length|transfer-encoding|connection|keep-alive):/i
  const [status, ...lines] = head.split('\r\n').filter((line) => !varying.test(line))
  return [status, ...lines.sort(), ...rest].join('\n')
}

const ODD: { readonly [what: string]: Sent } = {
  'an ordinary one': {},
  'a query': { target: '/mcp?a=1&b=c' },
  'dots in the path': { target: '/a/../mcp' },
  'an encoded path': { target: '/m%63p' },
  'two slashes': { target: '//evil.example/mcp' },
  'a target with a host': { target: 'http://localhost/mcp' },
  'a target that is no path': { target: '*' },
  'a host in capitals': { headers: ['Host: LOCALHOST'] },
  'a default port': { headers: ['Host: localhost:80'] },
  'a host that is none': { headers: ['Host: a b'] },
  'a foreign host': { headers: ['Host: evil.example'] },
  'HTTP/1.0': { version: 'HTTP/1.0' },
  'a header sent twice': { headers: ['X-Twice: a', 'X-Twice: b'] },
  'a content type sent twice': { headers: ['Content-Type: text/plain'] },
  'a token sent twice': { headers: ['Authorization: Bearer a', 'Authorization: Bearer b'] },
  'a header of other letters': { headers: ['X-Name: \u00e9'] },
  'a header with blanks around it': { headers: ['X-Name:   a b  '] },
  'an origin': { headers: ['Origin: http://localhost:1234'] },
  'a foreign origin': { headers: ['Origin: https://evil.example'] },
  'an id': { headers: ['X-Request-Id: mine'] },
  'a content encoding': { headers: ['Content-Encoding: gzip'] },
  'pieces of unknown length': {
    length: 'Transfer-Encoding: chunked',
    body: `${Buffer.byteLength(bodyOf('')).toString(16)}\r\n${bodyOf('')}\r\n0\r\n\r\n`,
  },
  'no body': { body: '' },
  'a body that is no JSON': { body: '{' },
  'a body that is not UTF-8': { body: bodyOf('\u00ff') },
  'a large body': { body: bodyOf('a'.repeat(100_000)) },
  'one larger than the limit': { length: 'Content-Length: 5000000', body: bodyOf('') },
  'an answer as a stream': { headers: ['X-Stream: 1'] },
  'a name that objects have': { headers: ['__proto__: a', 'constructor: b'] },
}

it.each(Object.keys(ODD))('%s', async (what) => {
  const server = createShown()
  const text = textOf(ODD[what]!)
  const through = { fetch: server.fetch, handle: server.handle.bind(server) }
  const [own, real] = [await listen(server), await listen(through)]

  const answers = [await answerOf(own, text), await answerOf(real, text)]

  expect(answers[0]).toMatch(/^HTTP\/1\.1 \d{3}/)
  expect(answers[0]).toBe(answers[1])
})

it.each(['own', 'through'] as const)(
  'a body that never ends is not waited for after a refusal: %s',
  async (way) => {
    const server = createShown()
    const through = { fetch: server.fetch, handle: server.handle.bind(server) }
    const port = await listen(way === 'own' ? server : through)
    const text = textOf({ headers: ['Host: evil.example'], length: 'Content-Length: 500', body: '{' })

    const answer = await answerOf(port, text.replace('Connection: close\r\n', ''))

    expect(answer).toMatch(/^HTTP\/1\.1 403/)
  },
)

it('a client that leaves in the middle of a call aborts it, of its body ends it', async () => {
  let tell: (aborted: boolean) => void = () => {}
  const ended = new Promise<boolean>((resolve) => {
    tell = resolve
  })
  const port = await listen(createShown(tell))

  const cut = connect(port, '127.0.0.1')
  cut.write(textOf({ length: 'Content-Length: 500', body: '{' }))
  const left = connect(port, '127.0.0.1')
  left.write(textOf({ headers: ['X-Wait: 1'] }))
  setTimeout(() => {
    cut.destroy()
    left.destroy()
  }, 100)

  expect(await ended).toBe(true)
  expect(await answerOf(port, textOf({}))).toMatch(/^HTTP\/1\.1 200/)
})
