/** `mayfly check` on what is no MCP server, makes no sense, or stops answering: a report in time, and never a crash. */

import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Report, type Result, runProbes } from '../../deploy/check/run.ts'
import { runCheck } from './_check-command.ts'
import { asExpected, broken, check, found, listen, methodOf, withHeaders } from './_check-servers.ts'
import { ATTACKS, type From, hostile } from './_hostile-servers.ts'
import { STEERING } from './_terminal.ts'

const HEAP_MB = 96
const TIMEOUT_MS = 400
const DEADLINE_MS = 4000
/** From the first request on; more than the deadline, since a machine that has much to do is late with everything. */
const MAX_MS = DEADLINE_MS + 8000

// At once, as far as vitest goes: most of the time they wait.
describe.for(['the first answer', 'the fourth answer'] satisfies From[])(
  'an attack from %s on',
  { concurrent: true },
  (from) => {
    test.for(Object.keys(ATTACKS))(
      '%s → it ends in time, in little memory, with a documented exit code and plain text',
      async (name) => {
        await using server = await hostile(ATTACKS[name]!, from)
        const startedAt = performance.now()
        const { code, stdout, stderr } = await runCheck(
          [server.url.href, '--timeout', `${TIMEOUT_MS}`, '--deadline', `${DEADLINE_MS}`, '--json'],
          { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
        )

        expect(performance.now() - (server.askedAt() ?? startedAt)).toBeLessThan(MAX_MS)
        expect(stdout + stderr).not.toMatch(STEERING)
        if (code === 2)
          expect({ stdout, stderr }).toEqual({ stdout: '', stderr: expect.stringMatching(/^mayfly: .+\n$/) })
        else {
          // Of a server that wants a token, one line says how to pass it.
          expect({ code, stderr }).toEqual({
            code: 1,
            stderr: expect.stringMatching(
              /^(?:mayfly: (?:a part of )?the server wants a token or an API key, .+\n)?$/,
            ),
          })
          expect(found({ server: undefined, eras: [], results: JSON.parse(stdout).results })).not.toEqual([])
        }
      },
    )
  },
)

describe('what is no MCP server', () => {
  /** Of everything but what is judged of any HTTP server. */
  const judged = ({ results }: Report): Result[] =>
    results.filter(({ id, verdict }) => verdict !== 'skipped' && !/^(afterwards|latency|cors)\./.test(id))

  test('a page for everything', async () => {
    await using server = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
    })
    const [only, ...others] = judged(await check(server.url))

    expect(only).toMatchObject({
      id: 'eras.any',
      verdict: 'wrong',
      detail: expect.stringContaining('text/html'),
    })
    expect(others).toEqual([])
  })

  test.for([301, 308])('a redirect with %i is named and not followed', async (status) => {
    const urls: (string | undefined)[] = []
    await using server = await listen((request, response) => {
      urls.push(request.url)
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const [only, ...others] = judged(await check(server.url))

    expect(only).toMatchObject({
      id: 'eras.any',
      verdict: 'wrong',
      detail: expect.stringContaining('"/elsewhere"'),
    })
    expect(only!.detail.includes('turns POST into GET')).toBe(status === 301)
    expect(others).toEqual([])
    expect(urls).not.toContain('/elsewhere')
  })

  test('plain bytes that are called gzip, in every answer', async () => {
    await using server = await broken(async (_request, next) =>
      withHeaders(await next(), { 'content-encoding': 'gzip' }),
    )
    const [only, ...others] = judged(await check(server.url))

    expect(only).toMatchObject({
      id: 'eras.any',
      verdict: 'wrong',
      detail: expect.stringContaining('a body that is not "gzip", though Content-Encoding says so'),
      fix: expect.stringContaining('Content-Encoding'),
    })
    expect(others).toEqual([])
  })

  test('the transport of 2024-11-05', async () => {
    await using server = await listen((request, response) => {
      if (request.method !== 'GET') return void response.writeHead(405).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: endpoint\ndata: /messages?id=1\n\n')
    })
    const [only] = judged(await check(server.url))

    expect(only).toMatchObject({
      id: 'eras.any',
      verdict: 'wrong',
      detail: expect.stringContaining('2024-11-05'),
    })
  })
})

test.for([
  'null',
  '[]',
  '""',
  '{"jsonrpc":"2.0","result":null}',
  '{"jsonrpc":"2.0","id":{},"result":[],"error":"no"}',
  '{"jsonrpc":"2.0","error":{"code":"-32601","message":7}}',
  '{"jsonrpc":"2.0","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":1},"serverInfo":7}}',
  '{"result":{"supportedVersions":[7],"capabilities":{"tools":{"listChanged":true}},"tools":[null],"_meta":[],"nextCursor":7}}',
  '{"result":{"resultType":"complete","capabilities":{"tools":{}},"tools":[{},{}],"_meta":{"io.modelcontextprotocol/serverInfo":7}}}',
])('%s in answer to everything is judged', async (body) => {
  for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
    await using server = await listen((_request, response) => {
      response.writeHead(200, {
        'content-type': type,
        'www-authenticate': 'Bearer resource_metadata="http://["',
      })
      response.end(type === 'text/event-stream' ? `data: ${body}\n\n` : body)
    })

    expect(found(await check(server.url)).some(({ verdict }) => verdict === 'wrong')).toBe(true)
  }
})

test('a body that would be slow to search or to list is read in time', async () => {
  const items = Array.from(
    { length: 20_000 },
    (_, index) => `{"name":"${index}","inputSchema":{"type":"object"}}`,
  )
  const list = `{"tools":[${items}],"nextCursor":`
  let page = 0
  await using server = await broken(async (request, next) => {
    const method = await methodOf(request)
    if (method === undefined) return new Response(`\n \n`.repeat(300_000), { status: 400 })
    if (method !== 'tools/list') return next()
    const { id } = (await request.clone().json()) as { id: string }
    page += 1
    const result = `${list}"${page}","resultType":"complete","ttlMs":0,"cacheScope":"public"}`
    return new Response(`{"jsonrpc":"2.0","id":"${id}","result":${result}}`, {
      headers: { 'content-type': 'application/json' },
    })
  })

  expect(asExpected(found(await check(server.url, undefined, 10_000)))).toEqual(
    expect.arrayContaining([['errors.json', 'degrades']]),
  )
})

test('a server that stops answering is given up on', async () => {
  let count = 0
  await using server = await broken((_request, next) => {
    count += 1
    return count > 6 ? new Promise<Response>(() => {}) : next()
  })
  const report = await check(server.url, undefined, 300)

  expect(found(report).length).toBeLessThan(12)
  expect(report.results.map(({ detail }) => detail)).toContain(
    'given up: too many requests were not answered',
  )
  expect(count).toBeLessThan(20)
})

test('a limit on the rate is told, and not taken for a fault', async () => {
  let count = 0
  await using server = await broken((_request, next) => {
    count += 1
    return count > 6 ? new Response(null, { status: 429 }) : next()
  })
  const report = await check(server.url)

  expect(found(report).filter(({ verdict }) => verdict === 'wrong')).toEqual([])
  expect(report.results.map(({ detail }) => detail)).toContain('the server limits the rate (429)')
})

test('a server that is just in time with each answer: the check ends at its deadline, and says so', async () => {
  await using server = await broken(async (_request, next) => {
    await delay(1000)
    return next()
  })
  const { url } = server
  const startedAt = performance.now()
  const options = { url, bearer: undefined, headers: {}, origin: undefined }
  const report = await runProbes({ ...options, timeoutMs: 20_000, deadlineMs: 6000 })

  expect(performance.now() - startedAt).toBeLessThan(18_000)
  expect(asExpected(found(report))).toEqual([['afterwards.complete', 'wrong']])
  expect(report.results.map(({ detail }) => detail)).toContain('given up: the check took over 6 s')
})
