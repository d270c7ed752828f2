/** `Mcp-Param-*` against the arguments: numbers by value, all else as text, and types are for the schema to refuse. */
import { describe, expect, it } from 'vitest'
import { createTool, jsonSchema } from '../../src/index.ts'
import { callTool, createServer, textOf } from './_client.ts'

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
