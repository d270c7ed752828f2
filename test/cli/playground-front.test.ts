/** The port of `mayfly dev` with the playground: requests, responses and upgrades of which one side is hostile. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startPlaygroundFront } from '../../deploy/playground/front.ts'
import { testPort } from '../_port.ts'
import { until } from './_dev-process.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function startBehind(inner: TcpServer | Server): Promise<number> {
  await once(inner.listen(0, '127.0.0.1'), 'listening')
  const port = await testPort()
  const innerPort = (inner.address() as AddressInfo).port
  const front = await startPlaygroundFront({ port, innerPort, endpointPath: '/mcp' })
  endings.push(
    () => inner.close(),
    () => front.close(Promise.resolve()),
  )
  return port
}

/** The bytes that come back until the connection ends. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let got = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    got += chunk
  })
  socket.on('error', () => {})
  socket.write(text)
  await new Promise((resolve) => socket.once('close', resolve))
  return got
}

const GET = 'GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

test('a response that cannot be written costs its own connection alone', async () => {
  let answer = ''
  const port = await startBehind(
    createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')))
    }),
  )
  for (const status of ['099 Odd', '000 Odd']) {
    answer = `HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nhi`
    expect(await exchange(port, GET), status).toBe('')
  }
  answer = 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhi'
  expect(await exchange(port, GET), 'an upgrade that nobody asked for').toBe('')
  answer = 'HTTP/1.1 200 O\x01\x1b[31mK\r\nContent-Length: 2\r\n\r\nhi'
  expect(await exchange(port, GET)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nhi$/)
})

test('Connection takes neither the length of a request away nor whom it is for', async () => {
  const seen: unknown[] = []
  const port = await startBehind(
    createServer((request, response) => {
      const { host, origin, 'x-hop': hop } = request.headers
      seen.push({ url: request.url, host, origin, hop })
      request.resume().on('end', () => response.end('done'))
    }),
  )
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'
  seen.length = 0
  await exchange(
    port,
    `DELETE /a HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nX-Hop: 1\r\nConnection: close, content-length, host, Origin, x-hop\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
  )
  expect(seen).toEqual([{ url: '/a', host: 'localhost', origin: 'http://evil.example', hop: undefined }])
})

test('close() ends WebSockets, which work until then', async () => {
  const inner = createServer((_request, response) => response.end())
  inner.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  await once(inner.listen(0, '127.0.0.1'), 'listening')
  const port = await testPort()
  const innerPort = (inner.address() as AddressInfo).port
  const front = await startPlaygroundFront({ port, innerPort, endpointPath: '/mcp' })
  const client = connect(port, '127.0.0.1')
  let got = ''
  client.setEncoding('latin1').on('data', (chunk: string) => {
    got += chunk
  })
  client.on('error', () => {})
  const closed = new Promise((resolve) => client.once('close', resolve))
  client.write('GET /idle HTTP/1.1\r\nHost: localhost\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
  await until(() => got.includes('101'))
  client.write('echo')
  await until(() => got.endsWith('echo'))

  await front.close(Promise.resolve())
  await closed
  await new Promise((resolve) => inner.close(resolve))
})
