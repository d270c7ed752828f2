/** The port of `mayfly dev` with the playground: requests, responses and upgrades of which one side is hostile. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createErrorLog, type ErrorLog } from '../../deploy/playground/error-log.ts'
import { type PlaygroundFront, startPlaygroundFront } from '../../deploy/playground/front.ts'
import { testPort } from '../_port.ts'
import { until } from './_dev-process.ts'

const endings: (() => unknown)[] = []
const fronts: PlaygroundFront[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function startBehind(inner: TcpServer | Server, errors?: ErrorLog): Promise<number> {
  await once(inner.listen(0, '127.0.0.1'), 'listening')
  const port = await testPort()
  const innerPort = (inner.address() as AddressInfo).port
  const front = await startPlaygroundFront({ port, innerPort, endpointPath: '/mcp', errors })
  fronts.push(front)
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

/** A page's stream of reloads. */
async function listen(port: number, token: string): Promise<Response> {
  const origin = `http://127.0.0.1:${port}`
  return fetch(`${origin}/__mayfly/reloads`, {
    method: 'POST',
    headers: { origin, 'x-mayfly-token': token, 'sec-fetch-site': 'same-origin' },
  })
}

async function tokenOf(port: number): Promise<string> {
  const page = await (await fetch(`http://127.0.0.1:${port}/__mayfly/`)).text()
  return /token&quot;:&quot;([\w-]+)&quot;/.exec(page)![1]!
}

test('the page hears of each reload; its place is free once it goes, and the streams end with the port', async () => {
  const inner = createServer((_request, response) => response.end('hi'))
  const port = await startBehind(inner)
  const front = fronts.at(-1)!
  const token = await tokenOf(port)
  expect((await listen(port, 'another')).status).toBe(403)
  const pages = await Promise.all(Array.from({ length: 32 }, () => listen(port, token)))
  expect(pages.map(({ status }) => status)).toEqual(Array(32).fill(200))
  expect((await listen(port, token)).status).toBe(429)
  const readers = pages.map(({ body }) => body!.pipeThrough(new TextDecoderStream()).getReader())
  expect((await readers[0]!.read()).value).toBe('data: 0\n\n')
  front.announceReload()
  expect((await readers[0]!.read()).value).toBe('data: 1\n\n')
  await readers[1]!.cancel()
  let late: Response | undefined
  await until(async () => {
    late = await listen(port, token)
    return late.status === 200
  })
  // The number so far is in the page, too: a page that opens in between misses nothing.
  expect((await late!.body!.pipeThrough(new TextDecoderStream()).getReader().read()).value).toBe(
    'data: 1\n\n',
  )
  expect(await (await fetch(`http://127.0.0.1:${port}/__mayfly/`)).text()).toContain('reloads&quot;:1')
  await front.close(Promise.resolve())
  expect((await readers[0]!.read()).done).toBe(true)
})

test('the page hears of a change that is not served, also a page that opens later, until one is', async () => {
  const port = await startBehind(createServer((_request, response) => response.end('hi')))
  const front = fronts.at(-1)!
  const token = await tokenOf(port)
  const read = async (): Promise<ReadableStreamDefaultReader<string>> =>
    (await listen(port, token)).body!.pipeThrough(new TextDecoderStream()).getReader()
  const reader = await read()
  await reader.read()
  front.announceRefused(['src/a.ts:1:1: no', '  1 | a'])
  const refused = 'event: refused\ndata: ["src/a.ts:1:1: no","  1 | a"]\n\n'
  let heard = ''
  while (!heard.includes('1 | a')) heard += (await reader.read()).value
  expect(heard).toBe(`data: 0\n\n${refused}`)
  const late = await read()
  let told = ''
  while (!told.includes('1 | a')) told += (await late.read()).value
  expect(told).toBe(heard)
  front.announceReload()
  expect((await reader.read()).value).toBe('data: 1\n\n')
  expect((await (await read()).read()).value).toBe('data: 1\n\n')
})

test('what the server logged is for the page alone, by request, and also if it arrives later; or nothing', async () => {
  const errors = createErrorLog()
  const port = await startBehind(
    createServer((_request, response) => response.end('hi')),
    errors,
  )
  const origin = `http://127.0.0.1:${port}`
  const error = { time: '', what: 'buy', message: 'no money', calls: [] }
  const ask = (id: string, token: string): Promise<Response> =>
    fetch(`${origin}/__mayfly/errors`, {
      method: 'POST',
      headers: { origin, 'x-mayfly-token': token, 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ requestId: id }),
    })
  errors.add({ ...error, requestId: 'r1' })
  const token = await tokenOf(port)
  expect((await ask('r1', 'another')).status).toBe(403)
  const logged = async (asked: Promise<Response>): Promise<unknown> =>
    JSON.parse((await (await asked).json()).body)
  expect(await logged(ask('r1', token))).toEqual([{ ...error, requestId: 'r1' }])
  const later = ask('r2', token)
  errors.add({ ...error, requestId: 'r3' })
  errors.add({ ...error, requestId: 'r2' })
  expect(await logged(later)).toEqual([{ ...error, requestId: 'r2' }])
  expect(await logged(ask('r4', token))).toEqual([])
  // The oldest are forgotten.
  for (let more = 0; more < 100; more++) errors.add(error)
  expect(await logged(ask('r1', token))).toEqual([])
})

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

describe('the page of tasks', () => {
  const SECRET = 'secret-of-the-tasks-in-the-environment'

  interface Shown {
    readonly origin: string
    readonly key: string | undefined
    /** What the server was sent, as `method url authorization`. */
    readonly seen: string[]
    ask(request: object, headers?: Record<string, string>): Promise<Response>
  }

  async function startTasks(tasksSecret?: string): Promise<Shown> {
    const seen: string[] = []
    const inner = createServer((request, response) => {
      const { authorization = 'anonymous' } = request.headers
      if (request.url !== '/') seen.push(`${request.method} ${request.url} ${authorization}`)
      response.writeHead(request.url === '/moved?list=' ? 307 : 200, {
        location: 'http://127.0.0.1:1/',
        'set-cookie': 'a=b',
      })
      response.end('{"tasks":[]}')
    })
    await once(inner.listen(0, '127.0.0.1'), 'listening')
    const port = await testPort()
    const innerPort = (inner.address() as AddressInfo).port
    const front = await startPlaygroundFront({ port, innerPort, endpointPath: '/mcp', tasksSecret })
    endings.push(
      () => inner.close(),
      () => front.close(Promise.resolve()),
    )
    const origin = `http://127.0.0.1:${port}`
    const page = await (await fetch(`${origin}/__mayfly/tasks`)).text()
    expect(page).not.toContain(SECRET)
    if (front.key !== undefined) expect(page).not.toContain(front.key)
    const token = /token&quot;:&quot;([\w-]{43})&quot;/.exec(page)![1]!
    return {
      origin,
      key: front.key,
      seen,
      ask: (request, headers = {}) =>
        fetch(`${origin}/__mayfly/tasks`, {
          method: 'POST',
          headers: { origin, 'x-mayfly-token': token, ...headers },
          body: JSON.stringify({ path: '/tasks', ...request }),
        }),
    }
  }

  test('four operations, with their filters; anything else is refused, and not sent', async () => {
    const { ask, seen } = await startTasks()
    const secret = 'typed'
    const filter = { status: 'failed', tool: 'a&b', after: 'x', task: '1', event: 'e', limit: 5 }
    await ask({ operation: 'list', secret, filter })
    await ask({ operation: 'show', secret, id: 'a b' })
    await ask({ operation: 'retry', secret, id: 'a' })
    await ask({ operation: 'cancel', secret, id: 'a', path: '/x/tasks?gate=1' })
    expect(seen).toEqual([
      'GET /tasks?list=&status=failed&tool=a%26b&after=x Bearer typed',
      'GET /tasks?show=a+b Bearer typed',
      'POST /tasks?retry=a Bearer typed',
      'POST /x/tasks?gate=1&cancel=a Bearer typed',
    ])
    seen.length = 0
    for (const [request, why] of [
      [{ operation: 'run' }, 'not an operation'],
      [{ operation: 'constructor' }, 'not an operation'],
      [{ operation: 'show', id: 5 }, 'not the id'],
      [{ operation: 'list', secret: 'a\r\nevil: 1' }, 'not a secret'],
      [{ operation: 'list', secret: 'é' }, 'not a secret'],
      [{ operation: 'list', path: 'http://127.0.0.1:9/tasks' }, 'not a path'],
      [{ operation: 'list', path: '//127.0.0.1:9/tasks' }, 'not a path'],
      [{ operation: 'list', path: '/\t/127.0.0.1:9/tasks' }, 'not a path'],
      [{ operation: 'list', path: '/\\127.0.0.1:9/tasks' }, 'not a path'],
    ] as const) {
      const response = await ask(request)
      expect(response.status, JSON.stringify(request)).toBe(502)
      expect(await response.text()).toContain(why)
    }
    expect(seen).toEqual([])
  })

  test('the secret of the environment is added only for the key of the printed address', async () => {
    const { ask, seen, key } = await startTasks(SECRET)
    expect(key).toMatch(/^[\w-]{43}$/)
    await ask({ operation: 'list' })
    await ask({ operation: 'list' }, { 'x-mayfly-key': `${key!.slice(0, -1)}_` })
    const answer = await ask({ operation: 'list' }, { 'x-mayfly-key': key! })
    await ask({ operation: 'list', secret: 'typed' }, { 'x-mayfly-key': key! })
    expect(seen.map((line) => line.replace('GET /tasks?list= ', ''))).toEqual([
      'anonymous',
      'anonymous',
      `Bearer ${SECRET}`,
      'Bearer typed',
    ])
    expect(await answer.json()).toEqual({ status: 200, body: '{"tasks":[]}' })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('without a secret there is no key; a redirect is not followed; other pages are refused', async () => {
    const { ask, seen, key, origin } = await startTasks()
    expect(key).toBeUndefined()
    const moved = await ask({ operation: 'list', path: '/moved', secret: 'typed' })
    expect(await moved.json()).toMatchObject({ status: 307 })
    seen.length = 0
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'x-mayfly-token': 'guessed' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      expect((await ask({ operation: 'list' }, headers)).status).toBe(403)
    expect((await fetch(`${origin}/__mayfly/tasks`, { method: 'POST', body: '{}' })).status).toBe(403)
    expect(seen).toEqual([])
  })
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
