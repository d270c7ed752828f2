/** Errors that cannot be told as they are: they must be answered and reported all the same, and end nothing else. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPrompt, createResource, createTool, ErrorCode, ProtocolError } from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createServer, legacy, modern, post, send } from './_client.ts'

const circular: { self?: unknown } = {}
circular.self = circular

const withHeader = (name: string, value: string) =>
  new ProtocolError(-32000, 'Odd', undefined, { status: 403, headers: { [name]: value } })
const withStatus = (status: number) => new ProtocolError(-32000, 'Odd', undefined, { status })

/** Each as a function: what is thrown must not be shared. */
const UNWRITABLE: readonly (readonly [string, () => unknown])[] = [
  ['data that is a BigInt', () => new ProtocolError(-32000, 'Odd', 1n)],
  ['circular data', () => new ProtocolError(-32000, 'Odd', circular)],
  ['data whose toJSON throws', () => new ProtocolError(-32000, 'Odd', { toJSON: () => JSON.parse('{') })],
  ['a header value that is not Latin-1', () => withHeader('x-odd', 'Grüße 世界')],
  ['a header value with a newline', () => withHeader('x-odd', 'a\r\nset-cookie: b')],
  ['a header name with a space', () => withHeader('x odd', 'a')],
  ['status 99', () => withStatus(99)],
  ['status 204, which has no body', () => withStatus(204)],
  ['status 1000', () => withStatus(1000)],
  ['status NaN', () => withStatus(Number.NaN)],
  ['a code that is not an integer', () => new ProtocolError(1.5, 'Odd')],
]

/** What is thrown and is no error, as a tool may do. */
const TEXTLESS: readonly (readonly [string, () => unknown])[] = [
  ['an object without a prototype', () => Object.create(null)],
  [
    'a toString that throws',
    () => ({
      toString() {
        throw new Error('no text')
      },
    }),
  ],
  [
    'an error whose message throws',
    () =>
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no message')
        },
      }),
  ],
  ['a symbol', () => Symbol('odd')],
]

const rejections: unknown[] = []
const onRejection = (reason: unknown) => void rejections.push(reason)

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  process.on('unhandledRejection', onRejection)
})
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onRejection)
  vi.restoreAllMocks()
  expect(rejections.splice(0)).toEqual([])
})

function serverOf(thrown: () => unknown) {
  const onError = vi.fn()
  const fail = () => {
    throw thrown()
  }
  const server = createServer({
    onError,
    tools: {
      now: createTool({ id: 'now', execute: fail }),
      later: createTool({
        id: 'later',
        execute: async () => {
          await Promise.resolve()
          fail()
        },
      }),
      streamed: createTool({
        id: 'streamed',
        execute: async (_input, ctx) => {
          ctx.log('error', 'begun')
          fail()
        },
      }),
    },
    resources: [createResource({ uri: 'x://1', name: 'x', read: fail })],
    prompts: { odd: createPrompt({ get: fail }) },
  })
  return { server, onError }
}

const CALLS: readonly (readonly [string, string, object])[] = [
  ['a tool', 'tools/call', { name: 'now' }],
  ['an asynchronous tool', 'tools/call', { name: 'later' }],
  ['a tool that streams', 'tools/call', { name: 'streamed' }],
  ['a resource', 'resources/read', { uri: 'x://1' }],
  ['a prompt', 'prompts/get', { name: 'odd' }],
]

describe.each(CALLS)('thrown by %s', (_what, method, params) => {
  it.each(UNWRITABLE)('%s → -32603, and a report [errors.unwritable]', async (_name, thrown) => {
    const { server, onError } = serverOf(thrown)
    for (const ask of [modern, legacy]) {
      const { status, error } = await ask(server, method, { ...params })
      expect([status, error]).toEqual([200, { code: ErrorCode.internal, message: 'Internal error' }])
    }
    expect(onError).toHaveBeenCalledTimes(2)
  })

  it.each(TEXTLESS)('%s → answered, and a report [errors.unwritable]', async (_name, thrown) => {
    const { server, onError } = serverOf(thrown)
    const { status, error, result } = await modern(server, method, { ...params })
    expect(status).toBe(200)
    expect(error?.code === ErrorCode.internal || result?.isError === true).toBe(true)
    expect(onError).toHaveBeenCalledOnce()
  })
})

describe('elsewhere', () => {
  it.each([...UNWRITABLE, ...TEXTLESS])('%s in setup → -32603 [errors.unwritable]', async (_name, thrown) => {
    const setup = () => {
      throw thrown()
    }
    const { error } = await modern(createServer({ setup, onError: vi.fn() }), 'server/discover')
    expect(error?.code).toBe(ErrorCode.internal)
  })

  it.each([...UNWRITABLE, ...TEXTLESS])(
    '%s in a batch → its part alone fails [errors.unwritable]',
    async (_name, thrown) => {
      const { server } = serverOf(thrown)
      const part = (id: number, method: string, params: object = {}) => ({
        jsonrpc: '2.0',
        id,
        method,
        params,
      })
      const batch = [
        part(1, 'tools/call', { name: 'later' }),
        part(2, 'ping'),
        part(3, 'prompts/get', { name: 'odd' }),
      ]
      const response = await server.handle(post(batch), {})
      const answers = (await response.json()) as { id: number; result?: object; error?: object }[]
      expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
      expect(answers[1]).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
    },
  )

  it.each([...UNWRITABLE, ...TEXTLESS])(
    '%s by the factory of fromSdk → -32603 [errors.unwritable]',
    async (_name, thrown) => {
      const onError = vi.fn()
      const server = fromSdk(
        () => {
          throw thrown()
        },
        { log: false, onError },
      )
      const { error } = await legacy(server, 'tools/list')
      expect(error?.code).toBe(ErrorCode.internal)
      expect(onError).toHaveBeenCalledOnce()
      const note = post('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}', {
        headers: { 'mcp-protocol-version': '2025-11-25' },
      })
      expect((await send(server, note)).status).toBe(500)
    },
  )
})
