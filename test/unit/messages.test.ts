/** Which JSON is a message, of which kind, and how much of it there may be. */
import { describe, expect, it } from 'vitest'
import { createTool, type HttpConfig, ProtocolError } from '../../src/index.ts'
import { type Answer, createServer, modernRequest, post, send, textOf } from './_client.ts'

const echo = createTool({ id: 'echo', execute: (input) => JSON.stringify(input) })
const sendRaw = (body: string | object, http: HttpConfig = {}): Promise<Answer> =>
  send(createServer({ tools: { echo }, http }), post(body))
const ping = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`

describe('a response', () => {
  it.each([
    ['a result', { id: 'mayfly-1', result: {} }],
    ['a result, with a number for an id', { id: 7, result: {} }],
    ['an error', { id: 'mayfly-1', error: { code: -1, message: '' } }],
    ['an error of a client that could not read the id', { error: { code: -32_700, message: '' } }],
  ])('%s → 202, and no body', async (_label, message) => {
    const { status, message: answer } = await sendRaw({ jsonrpc: '2.0', ...message })
    expect([status, answer]).toEqual([202, undefined])
  })

  it.each([
    ['a result without an id', { result: {} }],
    ['a result with null for an id', { id: null, result: {} }],
    ['a result with a fraction for an id', { id: 1.5, result: {} }],
    ['an error with an object for an id', { id: {}, error: { code: -1, message: '' } }],
    ['a result that is no object', { id: 1, result: 'text' }],
    ['an error without a code', { id: 1, error: { message: '' } }],
    ['an error whose code is no integer', { id: 1, error: { code: 1.5 } }],
    ['a result and an error', { id: 1, result: {}, error: { code: -1, message: '' } }],
    ['neither', { id: 1 }],
  ])('%s → -32600, without an id: that would be one of ours', async (_label, message) => {
    const answer = await sendRaw({ jsonrpc: '2.0', ...message })
    expect([answer.status, answer.error?.code]).toEqual([400, -32_600])
    expect(answer.message).not.toHaveProperty('id')
  })

  it.each([{ result: {} }, { error: { code: -1, message: '' } }])(
    'a message with a method and %j is a request',
    async (members) => {
      const { message } = await sendRaw({ jsonrpc: '2.0', id: 3, method: 'ping', ...members })
      expect(message).toEqual({ jsonrpc: '2.0', id: 3, result: {} })
    },
  )
})

describe('the first fault is found', () => {
  it.each([
    ['in the last of several objects', '{"a":{},"b":[{}],"c":{"__proto__":1}}'],
    ['behind a list that is fine', '{"a":[1,[2]],"b":{"constructor":{"prototype":1}}}'],
    ['behind null and text', '{"a":null,"b":"text","c":[1e400]}'],
  ])('%s → -32600', async (_label, params) => {
    expect((await sendRaw(ping(params))).error?.code).toBe(-32_600)
  })

  it.each(['{"constructor":null}', '{"a":{"constructor":null}}', '{"constructor":[]}', '{"constructor":5}'])(
    '%s has none → served',
    async (params) => {
      expect((await sendRaw(ping(params))).result).toEqual({})
    },
  )
})

describe('a limit is the last that passes', () => {
  // jsonrpc, id, method, params, and what is in them.
  it('maxJsonMembers counts members and items of all levels', async () => {
    const body = ping('{"a":[1,2],"b":{"c":null}}')
    expect((await sendRaw(body, { maxJsonMembers: 9 })).result).toEqual({})
    expect((await sendRaw(body, { maxJsonMembers: 8 })).error?.code).toBe(-32_600)
  })

  it('maxStringCharacters counts those of one string', async () => {
    const body = ping('{"a":"12345678","b":["12345678"]}')
    expect((await sendRaw(body, { maxStringCharacters: 8 })).result).toEqual({})
    expect((await sendRaw(body, { maxStringCharacters: 7 })).error?.code).toBe(-32_600)
  })

  it('an id may be as large as numbers are exact', async () => {
    const id = Number.MAX_SAFE_INTEGER
    expect((await sendRaw({ jsonrpc: '2.0', id, method: 'ping' })).message?.id).toBe(id)
    expect((await sendRaw({ jsonrpc: '2.0', id: -id, method: 'ping' })).message?.id).toBe(-id)
  })
})

describe('an error', () => {
  it('without data → has no such member', async () => {
    const { message } = await sendRaw({ jsonrpc: '2.0', id: 1, method: 'nothing' })
    expect(Object.keys(message!.error!).sort()).toEqual(['code', 'message'])
  })

  it('with data, null too → carries it', async () => {
    for (const data of [null, { field: 'a' }]) {
      const refuse = createTool({
        id: 'refuse',
        execute: () => {
          throw new ProtocolError(-32_005, 'No.', data)
        },
      })
      const answer = await send(
        createServer({ tools: { refuse } }),
        modernRequest('tools/call', { name: 'refuse' }),
      )
      expect(answer.error).toEqual({ code: -32_005, message: 'No.', data })
    }
  })

  it('keys of arguments that are names of Object’s own members arrive as they were', async () => {
    const args = { constructor: 'a', toString: 1, hasOwnProperty: null, valueOf: [] }
    const answer = await send(
      createServer({ tools: { echo } }),
      modernRequest('tools/call', { name: 'echo', arguments: args }),
    )
    expect(JSON.parse(textOf(answer)!)).toEqual(args)
  })
})
