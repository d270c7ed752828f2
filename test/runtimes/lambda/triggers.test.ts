/** One function behind each kind of trigger: the event as it comes, and the answer as it goes out. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TRIGGERS, type Trigger } from '../../../deploy/targets/lambda/events.ts'
import { CLIENTS } from '../../contract/clients.ts'
import { modernRequest } from '../../contract/wire.ts'
import { type Built, buildFunction, type RunningFunction } from './_function.ts'

const PICTURE_BASE64 = 'iVBORwD//g=='
/** What surely fits into a result, by the documentation of the adapter. */
const MAX_BODY_BYTES: { readonly [trigger in Trigger]: number } = {
  'function-url': 4_706_379,
  'http-api': 4_706_379,
  'rest-api': 3_137_586,
  alb: 737_712,
  'alb-multi-value': 737_712,
}

interface Shown {
  method: string
  url: string
  headers: [string, string][]
  body: string
  prefix: string
  clientAddress: string
  canStream: boolean
  remainingMs: number
  deadlineName: string
}

let built: Built
beforeAll(async () => {
  built = await buildFunction('fixture.ts')
})
afterAll(() => built?.[Symbol.dispose]())

async function shown(response: Response): Promise<Shown> {
  return (await response.json()) as Shown
}

describe.each(TRIGGERS)('behind %s', (trigger) => {
  let running: RunningFunction
  const at = (path: string): URL => new URL(running.url.pathname.replace(/\/mcp$/, path), running.origin)
  beforeAll(async () => {
    running = await built.start({ trigger })
  })
  afterAll(() => running?.[Symbol.asyncDispose]())

  it.each([CLIENTS[0]!, CLIENTS[3]!])('$kind lists and calls', async ({ connect }) => {
    await using connection = await connect(running.url)

    const { tools } = await connection.client.listTools()
    const { content } = await connection.call('echo', { text: 'Żółw 🐢 "quoted"' })

    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(content).toEqual([{ type: 'text', text: 'Żółw 🐢 "quoted"' }])
  })

  it('status and headers are the server’s', async () => {
    const response = await fetch(
      modernRequest(running.url, 'no/such-method', {}, { headers: { 'x-request-id': 'trace-1' } }),
    )

    expect(response.status).toBe(404)
    expect(response.headers.get('x-request-id')).toBe('trace-1')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32601 } })
  })

  it('the request has the URL that clients use, and the stage is its prefix', async () => {
    const response = await fetch(at('/a%20b/show?q=1&q=%26%3D&empty='))

    const { url, prefix, clientAddress } = await shown(response)
    expect(url).toBe(
      at('/a%20b/show?q=1&q=%26%3D&empty=').href.replace('q=1&q=', trigger === 'alb' ? 'q=' : 'q=1&q='),
    )
    expect(prefix).toBe(trigger === 'rest-api' ? '/prod' : '')
    expect(clientAddress).toBe('127.0.0.1')
  })

  it('what a client says of its address is not believed', async () => {
    const response = await fetch(at('/show'), { headers: { 'x-forwarded-for': '6.6.6.6' } })

    expect((await shown(response)).clientAddress).toBe('127.0.0.1')
  })

  it('a body that is no text arrives byte by byte', async () => {
    const body = Uint8Array.of(0, 1, 254, 255)
    // A REST API takes for text what it was not told is binary.
    const sent = trigger === 'rest-api' ? new TextEncoder().encode('plain') : body

    const response = await fetch(at('/show'), { method: 'PUT', body: sent })

    expect((await shown(response)).body).toBe(Buffer.from(sent).toString('base64'))
  })

  it.skipIf(trigger === 'rest-api')('a JSON-RPC request that comes as Base64 is served', async () => {
    // Bodies with a content encoding are Base64 in the event.
    const headers = { 'content-encoding': 'identity' }

    const response = await fetch(
      modernRequest(running.url, 'tools/call', { name: 'echo', arguments: { text: 'ü' } }, { headers }),
    )

    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'ü' }] } })
  })

  it('an answer that is no text arrives byte by byte', async () => {
    const response = await fetch(at('/picture'))

    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get('content-type')).toBe('image/png')
    // As long as a REST API was not told which media types are binary, it passes Base64 on.
    expect(trigger === 'rest-api' ? bytes.toString() : bytes.toString('base64')).toBe(PICTURE_BASE64)
  })

  it('cookies go both ways', async () => {
    const response = await fetch(at('/cookies'), { headers: { cookie: 'c=3; d=4' } })

    expect(response.status).toBe(204)
    expect(response.headers.get('x-seen')).toBe('c=3; d=4')
    // Without multi-value headers a load balancer takes one.
    const both = ['a=1; Path=/', 'b=2; Path=/']
    expect(response.headers.getSetCookie()).toEqual(trigger === 'alb' ? both.slice(1) : both)
  })

  it('a request body over the limit → 413', async () => {
    const response = await fetch(
      modernRequest(running.url, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(200_000) } }),
    )

    expect(response.status).toBe(413)
  })

  it('a result that does not fit → a JSON-RPC error that says so', async () => {
    const args = { character: 'x', times: 6_400_000 }

    const response = await fetch(modernRequest(running.url, 'tools/call', { name: 'fill', arguments: args }))

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      id: 1,
      error: { code: -32603, data: { limit: 'responseBytes', maxBytes: MAX_BODY_BYTES[trigger] } },
    })
  })

  it.each(['x', '"', '\\', '\u0001', 'ü'])('a result of %j that just fits arrives', async (character) => {
    const room = MAX_BODY_BYTES[trigger] - 1000
    const times = Math.floor(room / (Buffer.byteLength(JSON.stringify(character)) - 2))
    const args = { character, times }

    const response = await fetch(modernRequest(running.url, 'tools/call', { name: 'fill', arguments: args }))

    const { result } = (await response.json()) as { result?: { content: { text: string }[] } }
    expect(result?.content[0]?.text === character.repeat(times)).toBe(true)
  })
})

it('a named stage of an HTTP API is the prefix', async () => {
  await using running = await built.start({ trigger: 'http-api', stage: 'beta' })

  const { url, prefix } = await shown(await fetch(new URL('/beta/show', running.origin)))
  const elsewhere = await fetch(new URL('/show', running.origin))

  expect(url).toBe(new URL('/beta/show', running.origin).href)
  expect(prefix).toBe('/beta')
  expect(elsewhere.status).toBe(404)
  await using connection = await CLIENTS[3]!.connect(running.url)
  expect((await connection.call('echo', { text: 'staged' })).content).toMatchObject([{ text: 'staged' }])
})

it.each(['http-api', 'rest-api'] as const)('the page of %s shows the URL with the stage', async (trigger) => {
  await using running = await built.start({ trigger, stage: 'beta' })

  const response = await fetch(new URL('/beta/', running.origin), { headers: { accept: 'text/html' } })

  expect(await response.text()).toContain(running.url.href)
})
