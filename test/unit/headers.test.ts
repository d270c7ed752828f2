import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../src/auth.ts'
import {
  createPrompt,
  createResource,
  createTool,
  ErrorCode,
  jsonSchema,
  type MCPServer,
} from '../../src/index.ts'
import {
  type Answer,
  callTool,
  createServer,
  legacy,
  META,
  modern,
  post,
  type SendOptions,
  send,
  textOf,
  VERSION,
} from './_client.ts'

type Headers = NonNullable<SendOptions['headers']>

const toBase64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

const fixture = (name = 'plain'): MCPServer =>
  createServer({
    tools: { [name]: createTool({ id: 't', execute: () => 'ok' }) },
    prompts: { [name]: createPrompt({ get: () => 'ok' }) },
    resources: [createResource({ uri: 'a://1', read: () => 'ok' })],
  })

function expectMismatch({ status, error, message }: Answer): void {
  expect([status, error?.code, message?.id]).toEqual([400, -32_020, 1])
}

describe('MCP-Protocol-Version', () => {
  it.each([undefined, '2025-11-25', '2027-01-01', ` ${VERSION}x`])(
    '%j beside a modern body → -32020 [headers.version]',
    async (version) => {
      expectMismatch(
        await modern(fixture(), 'tools/list', {}, { headers: { 'mcp-protocol-version': version } }),
      )
    },
  )
})

describe('Mcp-Method', () => {
  it.each([undefined, 'tools/call', '', 'tools/list, tools/list'])(
    '%j for tools/list → -32020 [headers.method]',
    async (method) => {
      expectMismatch(await modern(fixture(), 'tools/list', {}, { headers: { 'mcp-method': method } }))
    },
  )

  it.each(['Tools/List', 'TOOLS/LIST'])(
    'values compare with case: %s → -32020 [headers.case] [headers.method]',
    async (method) => {
      expectMismatch(await modern(fixture(), 'tools/list', {}, { headers: { 'mcp-method': method } }))
    },
  )

  it('names compare without case [headers.case]', async () => {
    const headers: Headers = {
      'mcp-method': undefined,
      'MCP-METHOD': 'tools/list',
      'mcp-protocol-version': undefined,
      'Mcp-Protocol-Version': VERSION,
    }
    expect((await modern(fixture(), 'tools/list', {}, { headers })).status).toBe(200)
  })

  it('is checked before the method is looked up [headers.method]', async () => {
    expectMismatch(await modern(fixture(), 'nothing', {}, { headers: { 'mcp-method': 'tools/list' } }))
  })
})

describe('Mcp-Name', () => {
  const NAMED: [string, object][] = [
    ['tools/call', { name: 'plain' }],
    ['prompts/get', { name: 'plain' }],
    ['resources/read', { uri: 'a://1' }],
  ]

  it.each(NAMED)('of %s missing → -32020 [headers.name]', async (method, params) => {
    expectMismatch(await modern(fixture(), method, { ...params }, { headers: { 'mcp-name': undefined } }))
  })

  it.each(NAMED)('of %s that says something else → -32020 [headers.name]', async (method, params) => {
    expectMismatch(await modern(fixture(), method, { ...params }, { headers: { 'mcp-name': 'other' } }))
    expectMismatch(
      await modern(fixture(), method, { ...params }, { headers: { 'mcp-name': toBase64('other') } }),
    )
  })

  it.each(['plain', 'Grüße', ' padded ', 'two\nlines', '=?base64?literal?=', '日本'])(
    '%j in the Base64 form → served [headers.base64]',
    async (name) => {
      const answer = await callTool(fixture(name), name, {}, { headers: { 'mcp-name': toBase64(name) } })
      expect(textOf(answer)).toBe('ok')
    },
  )

  it.each([
    ['not Base64', '=?base64?!!!?='],
    ['unpadded', '=?base64?cGxhaW4?='],
    ['of another alphabet', '=?base64?8J-Yig==?='],
    ['not UTF-8', '=?base64?//8=?='],
    ['empty', '=?base64??='],
    ['with the marker in another case', toBase64('plain').replace('base64', 'BASE64')],
  ])('a Base64 form that is %s → -32020 [headers.base64]', async (_kind, header) => {
    expectMismatch(await callTool(fixture(), 'plain', {}, { headers: { 'mcp-name': header } }))
  })

  it('Latin-1 bytes instead of the Base64 form → -32020 [headers.base64]', async () => {
    expectMismatch(await callTool(fixture('é'), 'é', {}, { headers: { 'mcp-name': 'é' } }))
  })

  it('params.name of the wrong type is the parameters’ fault: -32602 [malformed.params]', async () => {
    const { error } = await modern(fixture(), 'tools/call', { name: 5 }, { headers: { 'mcp-name': '5' } })
    expect(error?.code).toBe(ErrorCode.invalidParams)
  })

  it('is not asked for by methods without one [headers.name]', async () => {
    expect((await modern(fixture(), 'tools/list', { name: 'x' })).status).toBe(200)
  })

  it('no metadata header is asked of legacy clients', async () => {
    expect((await legacy(fixture(), 'tools/call', { name: 'plain' })).status).toBe(200)
  })
})

describe('Mcp-Param-*', () => {
  const query = createTool({
    id: 'query',
    inputSchema: jsonSchema({
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        limit: { type: 'integer', 'x-mcp-header': 'Limit' },
        dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
        where: { type: 'object', properties: { tenant: { type: 'string', 'x-mcp-header': 'Tenant' } } },
      },
    }),
    execute: () => 'ok',
  })
  const call = (args: object, headers: Headers) =>
    callTool(createServer({ tools: { query } }), 'query', args, { headers })

  it.each<[object, Headers]>([
    [{ region: 'us-west1' }, { 'mcp-param-region': 'us-west1' }],
    [{ region: 'us-west1' }, { 'mcp-param-region': toBase64('us-west1') }],
    [{ region: 'Zürich' }, { 'mcp-param-region': toBase64('Zürich') }],
    [{ region: '' }, { 'mcp-param-region': '' }],
    [{ limit: 42 }, { 'mcp-param-limit': '42' }],
    [{ limit: 42 }, { 'mcp-param-limit': '42.0' }],
    [{ limit: -7 }, { 'mcp-param-limit': '-7' }],
    [{ dry: true }, { 'mcp-param-dry': 'true' }],
    [{ where: { tenant: 'acme' } }, { 'Mcp-Param-Tenant': 'acme' }],
  ])('%j with %j → served [headers.param] [headers.base64]', async (args, headers) => {
    expect(textOf(await call(args, headers))).toBe('ok')
  })

  it.each<[object, Headers]>([
    [{ region: 'us-west1' }, {}],
    [{ region: 'us-west1' }, { 'mcp-param-region': 'eu-west1' }],
    [{ region: 'us-west1' }, { 'mcp-param-region': 'US-WEST1' }],
    [{ region: 'us-west1' }, { 'mcp-param-region': '=?base64?!?=' }],
    [{ limit: 42 }, { 'mcp-param-limit': '43' }],
    [{ limit: 42 }, { 'mcp-param-limit': '0x2a' }],
    [{ limit: 42 }, { 'mcp-param-limit': '4.2e1' }],
    [{ limit: 42 }, { 'mcp-param-limit': '' }],
    [{ dry: true }, { 'mcp-param-dry': 'True' }],
    [{ dry: false }, { 'mcp-param-dry': '0' }],
    [{ where: { tenant: 'acme' } }, {}],
    [{ where: { tenant: 'acme' } }, { 'mcp-param-tenant': 'other' }],
  ])('%j with %j → -32020 [headers.param]', async (args, headers) => {
    expectMismatch(await call(args, headers))
  })

  it.each([{}, { region: null }, { where: {} }, { where: null }, { where: 'text' }])(
    '%j needs no header [headers.param-absent]',
    async (args) => {
      expect((await call(args, {})).status).toBe(200)
    },
  )

  it('is checked against the tool as setup left it for the request [headers.param] [setup.overlay]', async () => {
    const server = createServer({
      setup: (request) =>
        request.registerTool(
          'mine',
          { inputSchema: { r: z.string().meta({ 'x-mcp-header': 'R' }) } },
          () => 'ok',
        ),
      tools: { query },
    })
    expectMismatch(await callTool(server, 'mine', { r: 'a' }))
    expect(textOf(await callTool(server, 'mine', { r: 'a' }, { headers: { 'mcp-param-r': 'a' } }))).toBe('ok')
  })

  it.each(['text/event-stream', 'application/json'])(
    'a mismatch is status 400 whatever the client accepts: %s [headers.param]',
    async (accept) => {
      const answer = await call({ region: 'us-west1' }, { accept })
      expectMismatch(answer)
      expect(answer.isStream).toBe(false)
    },
  )

  it('legacy clients send none and are served', async () => {
    const server = createServer({ tools: { query } })
    const { result } = await legacy(server, 'tools/call', {
      name: 'query',
      arguments: { region: 'us-west1' },
    })
    expect(result).toMatchObject({ content: [{ text: 'ok' }] })
  })
})

describe('an x-mcp-header that clients would reject', () => {
  const string = { type: 'string', 'x-mcp-header': 'R' }

  it.each<[string, object]>([
    ['is empty', { properties: { r: { ...string, 'x-mcp-header': '' } } }],
    ['is no token', { properties: { r: { ...string, 'x-mcp-header': 'a b' } } }],
    ['has a line break', { properties: { r: { ...string, 'x-mcp-header': 'a\r\nb' } } }],
    ['is no string', { properties: { r: { ...string, 'x-mcp-header': true } } }],
    ['is used twice', { properties: { r: string, s: { ...string, 'x-mcp-header': 'r' } } }],
    ['is on a number', { properties: { r: { ...string, type: 'number' } } }],
    ['is on an object', { properties: { r: { ...string, type: 'object' } } }],
    ['is on no type', { properties: { r: { 'x-mcp-header': 'R' } } }],
    ['is within items', { properties: { r: { type: 'array', items: string } } }],
    ['is within anyOf', { anyOf: [{ properties: { r: string } }] }],
    ['is within $defs', { $defs: { r: string } }],
    ['is within a condition', { if: { properties: { r: string } } }],
  ])('%s → TypeError that names the tool [headers.param-declaration]', (_kind, schema) => {
    const server = createServer({
      tools: {
        broken: createTool({
          id: 'b',
          inputSchema: jsonSchema({ type: 'object', ...schema }),
          execute: () => '',
        }),
      },
    })
    expect(() => server.getToolInfo('broken')).toThrow(TypeError)
    expect(() => server.getToolInfo('broken')).toThrow(/"broken"/)
  })

  it('a property that is called x-mcp-header, or properties, is none [headers.param-declaration]', async () => {
    const odd = jsonSchema({
      type: 'object',
      properties: { 'x-mcp-header': { type: 'string' }, properties: { type: 'string' } },
    })
    const server = createServer({
      tools: { odd: createTool({ id: 'o', inputSchema: odd, execute: () => 'ok' }) },
    })
    expect(textOf(await callTool(server, 'odd', { 'x-mcp-header': 'a', properties: 'b' }))).toBe('ok')
  })
})

describe('META', () => {
  it('the version in the body is read from _meta alone [headers.version]', async () => {
    const { status } = await modern(
      fixture(),
      'tools/list',
      { protocolVersion: 'x' },
      { meta: { [META.protocolVersion]: VERSION } },
    )
    expect(status).toBe(200)
  })
})

describe('headers that nothing in the body corresponds to', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    },
  }
  const execute = vi.fn(() => 'ok')
  const server = createServer({
    tools: {
      query: createTool({ id: 'query', inputSchema: jsonSchema(schema), execute }),
      hidden: createTool({ id: 'hidden', scopes: ['admin'], inputSchema: jsonSchema(schema), execute }),
    },
    auth: bearer((token) => ({ clientId: token, scopes: [] })),
  })
  const authorization = 'Bearer ann'

  it.each([
    ['an argument that is absent', {}, 'eu'],
    ['an argument that is null', { region: null }, 'eu'],
    ['bytes that are not ASCII', { region: 'eu' }, 'e\u00fc'],
    ['bytes that are not ASCII, without an argument', {}, 'e\u00fc'],
    ['Base64 that is none', {}, '=?base64?*?='],
    ['an empty value', {}, ''],
  ])('Mcp-Param-* for %s → -32020 [headers.param]', async (_what, args, header) => {
    const headers = { authorization, 'mcp-param-region': header }
    expectMismatch(await callTool(server, 'query', args, { headers }))
    expect(execute).not.toHaveBeenCalled()
  })

  it('a tool that the caller may not use → 403 before its parameters are named [headers.param]', async () => {
    const headers = { authorization }
    const { status, message } = await callTool(server, 'hidden', { region: 'eu' }, { headers })
    expect(status).toBe(403)
    expect(JSON.stringify(message)).not.toMatch(/region/i)
  })

  it('a notification whose Mcp-Method or version contradicts its body → 400 [headers.method]', async () => {
    const note = (headers: Headers, params = {}) =>
      send(
        server,
        post(
          { jsonrpc: '2.0', method: 'notifications/x', params },
          { headers: { authorization, 'mcp-protocol-version': VERSION, ...headers } },
        ),
      )
    expect((await note({})).status).toBe(202)
    expect((await note({ 'mcp-method': 'notifications/x' })).status).toBe(202)
    expect((await note({ 'mcp-method': 'tools/call' })).error?.code).toBe(-32_020)
    const envelope = { _meta: { [META.protocolVersion]: '2025-11-25' } }
    expect((await note({}, envelope)).error?.code).toBe(-32_020)
    expect((await note({ 'mcp-protocol-version': '2099-01-01' })).error?.code).toBe(-32_022)
  })
})
