/** What other servers answer must not end the process: the documents of clients are of strangers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { untilAnswers } from '../../../../deploy/run/probe.ts'
import { testPort } from '../../../_port.ts'

/** Longer than any request of the server to others. */
const LONGEST_MS = 6500
const ENCODINGS = {
  six: 'gzip, gzip, gzip, gzip, gzip, gzip',
  hundred: Array(100).fill('br').join(','),
  wrong: 'gzip',
  zstd: 'zstd',
  unknown: 'x-none',
}
/** What becomes of the body after its first bytes. */
const ENDINGS: { readonly [ending: string]: (response: ServerResponse) => void } = {
  open: () => {},
  ended: (response) => response.end(),
  closed: (response) => response.destroy(),
  reset: ({ socket }) => (socket as import('node:net').Socket).resetAndDestroy(),
  malformed: ({ socket }) => socket?.write('zzzz\r\n'),
}

let hostile: Server
let running: ChildProcess
let url: string
let asked = 0
let printed = ''

beforeAll(async () => {
  hostile = createServer(({ url: path = '' }, response) => {
    asked++
    response.on('error', () => {})
    const [, ending = 'open', encoding = 'six', status = '200'] = path.split('/')
    response.writeHead(Number(status) || 200, {
      'content-type': 'application/json',
      'content-encoding': ENCODINGS[encoding as keyof typeof ENCODINGS] ?? ENCODINGS.six,
    })
    response.write('some bytes')
    setTimeout(() => (ENDINGS[ending] ?? ENDINGS.reset)!(response), 200)
  })
  hostile.listen(0, '127.0.0.1')
  await once(hostile, 'listening')
  const port = await testPort()
  url = `http://127.0.0.1:${port}`
  running = spawn(process.execPath, [join(import.meta.dirname, '_hostile-server.ts')], {
    env: {
      ...process.env,
      PORT: String(port),
      HOSTILE: `http://127.0.0.1:${(hostile.address() as { port: number }).port}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.stderr?.on('data', (data) => {
    printed += data
  })
  await untilAnswers(`${url}/mcp`, AbortSignal.timeout(60_000))
})
afterAll(() => {
  running?.kill('SIGKILL')
  hostile?.closeAllConnections()
  hostile?.close()
})

let callers = 0

/** Each time from another network, which may ask for 30 documents. */
const askFor = (clientId: string): Promise<number> => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: 'http://127.0.0.1:5555/cb',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  })
  const headers = { 'x-forwarded-for': `${20 + (callers++ % 80)}.0.2.1` }
  const asked = fetch(`${url}/oauth/authorize?${query}`, { redirect: 'manual', headers })
  return asked.then(({ status }) => status)
}

const paths = Object.keys(ENDINGS).flatMap((ending) =>
  Object.keys(ENCODINGS).flatMap((encoding) =>
    ['200', '404', '302'].map((status) => `${ending}/${encoding}/${status}`),
  ),
)

it('documents of clients with any encoding and any end → an error, and the server answers on', async () => {
  const before = asked
  const statuses = await Promise.all(paths.map((path) => askFor(`https://client.example.com/${path}/c.json`)))

  expect(statuses.filter((status) => ![400, 503].includes(status))).toEqual([])
  expect(asked - before).toBeGreaterThanOrEqual(paths.length)
  await delay(LONGEST_MS)
  expect([running.exitCode, printed.match(/Emitted 'error' event/)]).toEqual([null, null])
  expect(await askFor('https://client.example.com/ended/wrong/404/c.json')).toBe(400)
})

it('the keys of an issuer with six encodings → 503, and the server answers on', async () => {
  const header = btoa(JSON.stringify({ alg: 'RS256', kid: 'k', typ: 'at+jwt' }))
  const iss = 'https://issuer.example.com/ended'
  const claims = btoa(JSON.stringify({ iss, aud: 'https://mcp.example.com/mcp', exp: 4e9, sub: 'ada' }))
  const before = asked
  const { status } = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${`${header}.${claims}`.replaceAll('=', '')}.${'x'.repeat(342)}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })

  expect([status, asked > before]).toEqual([503, true])
  await delay(LONGEST_MS)
  expect(running.exitCode).toBeNull()
})
