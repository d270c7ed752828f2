/** `Mcp-Param-*` against the arguments: numbers by value, all else as text, and types are for the schema to refuse. */
import { describe, expect, it } from 'vitest'
import { createSessions } from '../../adapters/node.ts'
import { createTool, jsonSchema } from '../../src/index.ts'
import { CLIENT, callTool, createServer, post, textOf } from './_client.ts'

const mirrored = (type: string, header: string) => ({ type, 'x-mcp-header': header })
const query = createTool({
  id: 'query',
  inputSchema: jsonSchema({
    type: 'object',
    properties: {
      region: mirrored('string', 'Region'),
      limit: mirrored('integer', 'Limit'),
      dry: mirrored('boolean', 'Dry'),
      where: { type: 'object', properties: { length: mirrored('integer', 'Length') } },
    },
  }),
  execute: (input) => JSON.stringify(input),
})
const server = createServer({ tools: { query } })
const call = (args: object, headers: { [name: string]: string }) =>
  callTool(server, 'query', args, { headers })

describe('a call of the legacy era', () => {
  const message = (region: string, id = 1) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'query', arguments: { region } },
  })
  const version = { 'mcp-protocol-version': '2025-03-26' }

  async function openSession() {
    const sessions = createSessions(server)
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: CLIENT }
    const opened = await sessions.fetch(post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }))
    await opened.text()
    const headers = { ...version, 'mcp-session-id': opened.headers.get('mcp-session-id')! }
    return { send: async (request: Request) => sessions.fetch(request), headers }
  }

  const stateless = async () => ({ send: server.fetch, headers: version })

  const WAYS: [string, typeof stateless | typeof openSession, boolean][] = [
    ['alone', stateless, false],
    ['in a batch', stateless, true],
    ['in a session', openSession, false],
    ['in a batch in a session', openSession, true],
  ]
  it.each(WAYS)('%s: needs no header, and one that is there must not lie', async (_way, open, isBatch) => {
    const { send, headers } = await open()
    const answerTo = async (own: { [name: string]: string }) => {
      const body = isBatch ? [message('eu', 1), message('us', 2)] : message('eu')
      return (await send(post(body, { headers: { ...headers, ...own } }))).text()
    }
    expect(await answerTo({})).not.toContain('error')
    const lied = await answerTo({ 'mcp-param-region': 'us' })
    expect(lied).toContain('-32020')
    // Of a batch the other call is told no lie.
    expect(lied.includes('result')).toBe(isBatch)
    expect(await answerTo({ 'mcp-param-limit': '1' })).toContain('-32020')
    if (!isBatch) expect(await answerTo({ 'mcp-param-region': 'eu' })).not.toContain('error')
  })
})

describe('a number', () => {
  it.each([
    [42, '42'],
    [42, '42.0'],
    [42, '42.000'],
    [0, '-0'],
    [-7, '-7.00'],
  ])('%d and "%s" are the same → served', async (limit, header) => {
    expect(textOf(await call({ limit }, { 'mcp-param-limit': header }))).toBe(JSON.stringify({ limit }))
  })

  it.each([
    [42, '42.5'],
    [42, '42.'],
    [42, '+42'],
    [42, '42,0'],
    [42, '4 2'],
    [42, 'a42'],
    [42, '42a'],
  ])('%d and "%s" are not → -32020', async (limit, header) => {
    expect((await call({ limit }, { 'mcp-param-limit': header })).error?.code).toBe(-32_020)
  })
})

describe('text', () => {
  it.each(['123', '1.0', '-5', 'true', 'null'])('"%s" is compared as text → served', async (region) => {
    expect(textOf(await call({ region }, { 'mcp-param-region': region }))).toBe(JSON.stringify({ region }))
  })

  it.each([
    ['1', '1.0'],
    ['1', '01'],
  ])('"%s" and "%s" are not the same → -32020', async (region, header) => {
    expect((await call({ region }, { 'mcp-param-region': header })).error?.code).toBe(-32_020)
  })
})

describe('an argument of another type than is declared', () => {
  it.each([
    ['text for a number', { limit: '5' }, { 'mcp-param-limit': '5' }],
    ['a number for text', { region: 5 }, { 'mcp-param-region': '5' }],
    ['a number for a boolean', { dry: 1 }, { 'mcp-param-dry': '1' }],
    ['text where an object is declared', { where: 'text' }, {}],
    ['null where an object is declared', { where: null }, {}],
    ['a list where text is declared', { region: ['a'] }, {}],
  ])('%s → the schema refuses it, and the headers say nothing', async (_label, args, headers) => {
    const { status, error, result } = await call(args, headers)
    expect([status, error]).toEqual([200, undefined])
    expect(result).toMatchObject({ isError: true })
  })
})
