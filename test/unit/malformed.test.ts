import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTool, ErrorCode } from '../../src/index.ts'
import { eventually } from '../_eventually.ts'
import {
  type Answer,
  createServer,
  META,
  modernRequest,
  post,
  type SendOptions,
  send,
  VERSION,
} from './_client.ts'

const echo = createTool({ id: 'echo', execute: (input) => JSON.stringify(input) })
const fixture = (http = {}) => createServer({ tools: { echo }, http })

const sendRaw = (body: BodyInit | object, options: SendOptions = {}, http = {}): Promise<Answer> =>
  send(fixture(http), post(body, options))

function expectRefusal({ status, error, message }: Answer, code: number): void {
  expect([status, error?.code]).toEqual([400, code])
  expect(message?.jsonrpc).toBe('2.0')
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => {
    // A client's fault is not reported as one of the server.
    expect(reported).not.toHaveBeenCalled()
    reported.mockRestore()
  }
})

describe('what is not JSON', () => {
  it.each([
    '',
    ' ',
    'hello',
    '{',
    '{"jsonrpc":"2.0",}',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '\u0000',
    'NaN',
    '[1,]',
  ])('%j → -32700 with status 400 [malformed.json]', async (body) => {
    const answer = await sendRaw(body)
    expectRefusal(answer, -32_700)
    expect(answer.message).not.toHaveProperty('id')
  })

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a character cut off', [0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('%s, which is not UTF-8 → -32700 with status 400 [malformed.json]', async (_kind, bytes) => {
    const body = Uint8Array.from([...utf8('{"jsonrpc":"2.0","id":1,"method":"'), ...bytes, ...utf8('"}')])
    expectRefusal(await sendRaw(body), ErrorCode.parse)
  })

  it('characters that chunks cut in two are whole [malformed.json]', async () => {
    const bytes = utf8(JSON.stringify({ jsonrpc: '2.0', id: '日本', method: 'ping' }))
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    expect((await sendRaw(body)).message).toEqual({ jsonrpc: '2.0', id: '日本', result: {} })
  })

  it('a body that breaks off → -32700 with status 400 [malformed.json]', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('connection reset')),
    })
    expectRefusal(await sendRaw(body), ErrorCode.parse)
  })

  it('no body → -32700 with status 400 [malformed.json]', async () => {
    const request = new Request('https://mcp.example/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
    expectRefusal(await send(fixture(), request), ErrorCode.parse)
  })
})

describe('what is no JSON-RPC message', () => {
  it.each([
    [null],
    [5],
    ['text'],
    [true],
    [{}],
    [{ id: 1, method: 'ping' }],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }],
    [{ jsonrpc: 2, id: 1, method: 'ping' }],
    [{ jsonrpc: '2.0', id: 1 }],
    [{ jsonrpc: '2.0', id: 1, method: 5 }],
    [{ jsonrpc: '2.0', id: 1, method: null }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: 'x' }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: null }],
  ])('%j → -32600 with status 400 [malformed.message]', async (body) => {
    expectRefusal(await sendRaw(JSON.stringify(body)), -32_600)
  })

  it.each([null, true, 1.5, [], {}, Number.MAX_SAFE_INTEGER + 1, -1e300])(
    'the id %j → -32600, without an id [malformed.id]',
    async (id) => {
      const answer = await sendRaw({ jsonrpc: '2.0', id, method: 'ping' })
      expectRefusal(answer, -32_600)
      expect(answer.message).not.toHaveProperty('id')
    },
  )

  it('a readable id comes back with the refusal [malformed.id]', async () => {
    const answer = await sendRaw({ jsonrpc: '1.0', id: 'a1', method: 'ping' })
    expectRefusal(answer, -32_600)
    expect(answer.message?.id).toBe('a1')
  })
})

describe('hostile JSON', () => {
  const nested = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels)
  const withParams = (json: string) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${json}}`

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('100 000 levels of %s → -32600 with status 400 [malformed.depth]', async (_kind, open, close) => {
    const levels = 100_000
    expectRefusal(await sendRaw(withParams(`${open.repeat(levels)}1${close.repeat(levels)}`)), -32_600)
  })

  it('depth counts from the outermost; maxJsonDepth is the last that passes [malformed.depth]', async () => {
    const http = { maxJsonDepth: 5 }
    const body = (levels: number) => withParams(`{"a":${nested(levels)}}`)
    expect((await sendRaw(body(3), {}, http)).result).toEqual({})
    expectRefusal(await sendRaw(body(4), {}, http), ErrorCode.invalidRequest)
  })

  it.each([
    '{"__proto__":{"polluted":true}}',
    '{"a":[{"__proto__":null}]}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"a":{"constructor":{"prototype":{}}}}',
  ])('%s → -32600 with status 400, nothing polluted [malformed.pollution]', async (params) => {
    expectRefusal(await sendRaw(withParams(params)), -32_600)
    expect({}).not.toHaveProperty('polluted')
  })

  it.each(['{"a":1e400}', '{"a":[-1e400]}'])(
    '%s, which would be written again as null → -32600 with status 400',
    async (params) => {
      expectRefusal(await sendRaw(withParams(params)), -32_600)
    },
  )

  it.each(['{"constructor":"a word"}', '{"prototype":{}}', '{"toString":1,"hasOwnProperty":2}'])(
    '%s is only unusual → served [malformed.pollution]',
    async (params) => {
      expect((await sendRaw(withParams(params))).result).toEqual({})
    },
  )

  it('duplicate keys: the last counts, as JSON.parse has it, in body and headers alike', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list","params":{}}`
    expect((await sendRaw(body)).result).toHaveProperty('tools')
  })

  it('a lone surrogate in a string is no reason to fail', async () => {
    const body = `{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}`
    expect((await sendRaw(body)).status).toBe(200)
  })
})

describe('size', () => {
  it('a Content-Length over the limit → 413 before a byte is read [http.size]', async () => {
    const pull = vi.fn()
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const { status, error } = await sendRaw(body, { headers: { 'content-length': '4194305' } })
    expect([status, error?.code]).toEqual([413, ErrorCode.invalidRequest])
    expect(pull).not.toHaveBeenCalled()
  })

  it('a stream without end → 413 once it passes the limit, and is cancelled [http.size]', async () => {
    const cancel = vi.fn()
    const chunk = new Uint8Array(1000).fill(0x20)
    const body = new ReadableStream(
      { pull: (controller) => controller.enqueue(chunk), cancel },
      { highWaterMark: 0 },
    )
    expect((await sendRaw(body, {}, { maxBodyBytes: 10_000 })).status).toBe(413)
    await eventually(() => expect(cancel).toHaveBeenCalledOnce())
  })

  it('a Content-Length that lies → the bytes count [http.size]', async () => {
    const body = new Blob([' '.repeat(2000)]).stream()
    const options = { headers: { 'content-length': '10' } }
    expect((await sendRaw(body, options, { maxBodyBytes: 1000 })).status).toBe(413)
  })

  it('maxBodyBytes is the last size that passes [http.size]', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect((await sendRaw(body, {}, { maxBodyBytes: body.length })).status).toBe(200)
    expect((await sendRaw(body, {}, { maxBodyBytes: body.length - 1 })).status).toBe(413)
  })
})

describe('Content-Type', () => {
  it.each([
    'text/plain',
    undefined,
    '',
    'application/jsonp',
    'application/json-rpc',
    'text/json',
    'multipart/form-data; x=application/json',
    'application/x-www-form-urlencoded',
  ])('%j → 415 before the body is read [http.content-type]', async (type) => {
    const pull = vi.fn()
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const { status, error } = await sendRaw(body, { headers: { 'content-type': type } })
    expect([status, error?.code]).toEqual([415, ErrorCode.invalidRequest])
    expect(pull).not.toHaveBeenCalled()
  })

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    ' application/json ;charset=UTF-8',
  ])('%j → served [http.content-type]', async (type) => {
    expect(
      (await sendRaw({ jsonrpc: '2.0', id: 1, method: 'ping' }, { headers: { 'content-type': type } }))
        .status,
    ).toBe(200)
  })
})

describe('parameters', () => {
  it.each([
    ['tools/call', { name: 5 }],
    ['tools/call', {}],
    ['tools/call', { name: 'echo', arguments: 'text' }],
    ['tools/list', { cursor: 5 }],
  ])('%s with %j → -32602 [malformed.params]', async (method, params) => {
    const { status, error } = await send(fixture(), modernRequest(method, params))
    expect([status, error?.code]).toEqual([200, -32_602])
  })

  it('a _meta that is no object, in the legacy era → -32602 [malformed.params]', async () => {
    const { error } = await sendRaw({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: 5 } })
    expect(error?.code).toBe(ErrorCode.invalidParams)
  })

  it('an envelope in a notification changes nothing: 202 [legacy.notification]', async () => {
    const { status } = await sendRaw(
      { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: { [META.protocolVersion]: VERSION } } },
      { headers: { 'mcp-protocol-version': VERSION } },
    )
    expect(status).toBe(202)
  })
})
