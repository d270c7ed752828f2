/** `mayfly check` on what is no MCP server, makes no sense, or stops answering: a report in time, and never a crash. */
import { describe, expect, test } from 'vitest'
import type { Report, Result } from '../../deploy/check/run.ts'
import { asExpected, broken, check, found, listen, methodOf } from './_check-servers.ts'

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
