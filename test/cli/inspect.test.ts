/** `mayfly inspect`, the real command: what its local process forwards, and for whom. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { MayflyProcess, stopAll } from './_dev-process.ts'

const seen: IncomingHttpHeaders[] = []
const server = createServer((request, response) => {
  // The command itself asks once whether anything answers.
  if (request.headers['mcp-method'] !== 'server/discover') seen.push(request.headers)
  response.writeHead(request.url === '/moved' ? 307 : 200, {
    location: 'http://127.0.0.1:1/',
    'set-cookie': 'a=b',
    'access-control-allow-origin': '*',
    'content-type': 'text/html',
    'x-own': 'kept',
  })
  response.end('<script>alert(1)</script>')
})

let inspecting: MayflyProcess
let address: URL
let token: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const args = [
    'inspect',
    `http://127.0.0.1:${port}/mcp?key=key-of-the-user`,
    '--bearer',
    'secret-of-the-user',
    '--header',
    'X-Gate: open',
  ]
  inspecting = new MayflyProcess(args, tmpdir())
  await inspecting.ready()
  address = new URL(inspecting.stdout.replace(/^ready /, '').trim())
  token = address.hash.replace('#token=', '')
})
afterAll(async () => {
  await stopAll()
  server.close()
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Any header may be sent, `Host` too. */
function ask(path: string, headers: Record<string, string>, body = '{}', method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: address.port, path, method, headers },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        // Also where the connection breaks within the body: a server that refuses headers may do that.
        response.on('close', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const own = (): Record<string, string> => ({
  origin: address.origin,
  'x-mayfly-token': token,
  'content-type': 'application/json',
})

test('the address has 256 bits of token after the #, on 127.0.0.1; nothing secret is in it', () => {
  expect(address.hostname).toBe('127.0.0.1')
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(inspecting.stdout).not.toContain('secret-of-the-user')
})

test('a message of the page is forwarded with the user’s headers; cookies and the page’s own headers are not', async () => {
  const { status, headers } = await ask('/__mayfly/mcp', {
    ...own(),
    cookie: 'a=b',
    referer: address.href,
    'mcp-method': 'tools/list',
  })
  expect(status).toBe(200)
  const {
    authorization,
    'x-gate': gate,
    cookie,
    referer,
    origin,
    'x-mayfly-token': sent,
    ...rest
  } = seen.at(-1)!
  expect({ authorization, gate, cookie, referer, origin, sent }).toEqual({
    authorization: 'Bearer secret-of-the-user',
    gate: 'open',
  })
  expect(rest['mcp-method']).toBe('tools/list')
  expect(headers['x-own']).toBe('kept')
  expect(headers['set-cookie']).toBeUndefined()
  expect(headers['access-control-allow-origin']).toBeUndefined()
  expect(headers['content-security-policy']).toBe(`sandbox; default-src 'none'`)
})

test('large headers reach the server, which says whether they are too large', async () => {
  seen.length = 0
  const fits = await ask('/__mayfly/mcp', { ...own(), 'mcp-param-text': 'x'.repeat(12_000) })
  const tooLarge = await ask('/__mayfly/mcp', { ...own(), 'mcp-param-text': 'x'.repeat(20_000) })

  expect([fits.status, seen[0]?.['mcp-param-text']?.length]).toEqual([200, 12_000])
  // From the server, whose limit is Node's: 16 KB.
  expect(tooLarge).toMatchObject({ status: 431, headers: { 'cross-origin-resource-policy': 'same-origin' } })
})

test('the task endpoint gets the user’s headers and the typed secret, and never the token for messages', async () => {
  const page = await ask('/__mayfly/tasks', {}, '', 'GET')
  expect(page.body).not.toContain(token)
  for (const [secret, sent] of [
    ['typed', 'Bearer typed'],
    [undefined, undefined],
  ]) {
    const body = JSON.stringify({ operation: 'list', path: '/tasks', secret })
    const { status, headers } = await ask('/__mayfly/tasks', { ...own(), cookie: 'a=b' }, body)
    expect({ status, cookie: headers['set-cookie'] }).toEqual({ status: 200, cookie: undefined })
    const { authorization, cookie, 'x-gate': gate, 'x-mayfly-token': ofPage } = seen.at(-1)!
    expect({ authorization, cookie, gate, ofPage }).toEqual({ authorization: sent, gate: 'open' })
  }
})

test('without the token, from another origin or under another name → 403, and nothing is forwarded', async () => {
  const before = seen.length
  const { 'x-mayfly-token': _token, ...withoutToken } = own()
  const { origin: _origin, ...withoutOrigin } = own()
  const refused = [
    withoutToken,
    withoutOrigin,
    { ...own(), 'x-mayfly-token': `${token.slice(0, -1)}_` },
    { ...own(), origin: 'https://evil.example' },
    { ...own(), origin: 'null' },
    { ...own(), 'sec-fetch-site': 'cross-site' },
    { ...own(), host: `evil.example:${address.port}`, origin: `http://evil.example:${address.port}` },
    { ...own(), host: `127.0.0.1.evil.example:${address.port}` },
  ]
  for (const headers of refused)
    for (const path of ['/__mayfly/mcp', '/__mayfly/fetch', '/__mayfly/target', '/__mayfly/tasks'])
      expect((await ask(path, headers)).status).toBe(403)
  const rebound = await ask('/__mayfly/', { host: 'evil.example' }, '', 'GET')
  expect(rebound.status).toBe(403)
  expect(seen.length).toBe(before)
})

test('without the token nothing names the server or its key', async () => {
  const { port } = server.address() as AddressInfo
  for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS'])
    for (const path of ['/', '/__mayfly/', '/__mayfly/target', '/__mayfly/mcp', '/__mayfly/main.ts', '/x']) {
      const { headers, body } = await ask(
        path,
        { origin: address.origin },
        method === 'POST' ? '{}' : '',
        method,
      )
      const told = JSON.stringify(headers) + body
      expect([method, path, told.includes('key-of-the-user'), told.includes(`:${port}/`)]).toEqual([
        method,
        path,
        false,
        false,
      ])
    }
  const { status, body } = await ask('/__mayfly/target', own())
  expect([status, JSON.parse(body)]).toEqual([
    200,
    { endpoint: `http://127.0.0.1:${port}/mcp?key=key-of-the-user` },
  ])
  expect(inspecting.stdout).not.toContain('key-of-the-user')
})

test('the page itself does not hold the token', async () => {
  const { status, body } = await ask('/__mayfly/', {}, '', 'GET')
  expect(status).toBe(200)
  expect(body).toContain('Mayfly playground')
  expect(body).not.toContain(token)
})

test('documents are fetched from where a server may send its clients, and from nowhere else', async () => {
  const get = (url: string): Promise<Answer> =>
    ask('/__mayfly/fetch', own(), JSON.stringify({ url, method: 'GET' }))
  const { port } = server.address() as AddressInfo
  const fetched = await get(`http://127.0.0.1:${port}/.well-known/x`)
  expect(JSON.parse(fetched.body)).toEqual({ status: 200, body: '<script>alert(1)</script>' })
  // The secrets of the command line are for the endpoint alone.
  expect(seen.at(-1)).not.toHaveProperty('authorization')
  // A redirect is not followed.
  expect(JSON.parse((await get(`http://127.0.0.1:${port}/moved`)).body)).toMatchObject({ status: 307 })
  for (const url of [
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'file:///etc/passwd',
    'http://a:b@127.0.0.1/',
    'x',
  ])
    expect((await get(url)).status, url).toBe(502)
})

test('a wrong command line is one line and exit code 2', async () => {
  for (const args of [
    [],
    ['ftp://x'],
    ['http://a', 'http://b'],
    ['http://a', '--port', 'x'],
    ['http://a', '--header', 'x'],
  ]) {
    const { code, stdout, stderr } = await new MayflyProcess(['inspect', ...args], tmpdir()).exited
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  }
})

test('a public server may not name private addresses', async () => {
  const args = ['inspect', 'https://mcp.example.com/mcp']
  await using other = new MayflyProcess(args, tmpdir())
  await other.ready()
  const at = new URL(other.stdout.replace(/^ready /, '').trim())
  const headers = {
    origin: at.origin,
    'x-mayfly-token': at.hash.replace('#token=', ''),
    'content-type': 'application/json',
  }
  for (const url of [
    'http://127.0.0.1:9/',
    'https://127.0.0.1:9/',
    'https://localhost/',
    'https://192.168.1.1/',
    'https://[::1]/',
  ]) {
    const body = JSON.stringify({ url, method: 'GET' })
    const response = await fetch(new URL('/__mayfly/fetch', at), { method: 'POST', headers, body })
    expect(response.status, url).toBe(502)
    expect(await response.text(), url).toContain('which is not allowed')
  }
})

test('a response that cannot be passed on → 502, and the command goes on', async () => {
  let answer = ''
  const hostile = createTcpServer((socket) => {
    socket.on('error', () => {})
    // An upgraded connection stays open.
    socket.once('data', () => socket.write(Buffer.from(answer, 'latin1')))
  })
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const { port } = hostile.address() as AddressInfo
  answer = 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nhi'
  await using other = new MayflyProcess(['inspect', `http://127.0.0.1:${port}/mcp`], tmpdir())
  await other.ready()
  const at = new URL(other.stdout.replace(/^ready /, '').trim())
  const headers = { origin: at.origin, 'x-mayfly-token': at.hash.replace('#token=', '') }
  const post = (): Promise<Response> =>
    fetch(new URL('/__mayfly/mcp', at), { method: 'POST', headers, body: '{}' })
  for (const head of ['099 Odd', '000 Odd', '101 X\r\nUpgrade: x\r\nConnection: Upgrade']) {
    answer = `HTTP/1.1 ${head}\r\nContent-Length: 2\r\n\r\nhi`
    const response = await post()
    expect(response.status, head).toBe(502)
    expect(await response.text(), head).toMatch(/^http:[^\n]+\n$/)
  }
  answer = 'HTTP/1.1 200 O\x01\x1b[31mK\r\nContent-Length: 2\r\n\r\nhi'
  const response = await post()
  expect({ status: response.status, body: await response.text() }).toEqual({ status: 200, body: 'hi' })
  expect((await other.signal('SIGINT')).code).toBe(0)
  hostile.close()
})

test('nothing answers at the URL → one line, after the page is ready; the command goes on', async () => {
  const port = await testPort()
  const url = `http://127.0.0.1:${port}/mcp?key=secret-of-the-query`
  await using other = new MayflyProcess(['inspect', url, '--bearer', 'secret-of-the-user'], tmpdir())
  await other.ready()
  await other.says(
    new RegExp(`^mayfly: nothing answers at http://127\\.0\\.0\\.1:${port}/mcp: [^\\n]+\\n`, 'm'),
  )
  const { code, stdout, stderr } = await other.signal('SIGINT')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ready [^\n]+\n$/)
  expect(stderr).not.toContain('secret-of')
})
