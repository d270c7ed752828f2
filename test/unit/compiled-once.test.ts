/** What README.md calls "compiled once": however many tools there are, and however often they are called. */
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type MCPServerConfig, type Schema } from '../../src/index.ts'
import { callTool, createServer, legacy, modern, namesIn } from './_client.ts'

/** A schema that counts how often it is converted to JSON Schema. */
function counted() {
  let conversions = 0
  const convert = () => {
    conversions++
    return { type: 'object', properties: {} }
  }
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'counting',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: convert, output: convert },
    },
  } as unknown as Schema
  return { schema, count: () => conversions }
}

const COUNT = 500

function many(config: Partial<MCPServerConfig> = {}) {
  const schemas = Array.from({ length: COUNT }, counted)
  const tools = Object.fromEntries(
    schemas.map(({ schema }, index) => [
      `t${index}`,
      createTool({ id: `t${index}`, inputSchema: schema, execute: () => 'done' }),
    ]),
  )
  const server = createServer({ tools, ...config })
  return { server, conversions: () => schemas.map(({ count }) => count()) }
}

it('a call converts the schema of its own tool alone, once', async () => {
  const { server, conversions } = many()
  for (let call = 0; call < 10; call++) await callTool(server, `t${call % 5}`, {})
  expect(conversions()).toEqual(Array.from({ length: COUNT }, (_, index) => (index < 5 ? 1 : 0)))
})

it('a call converts no schema of zod with plain fields, a list converts it once', async () => {
  const inputSchema = z.object({ text: z.string(), tags: z.array(z.string()).optional() })
  const convert = vi.spyOn(inputSchema['~standard'].jsonSchema, 'input')
  const echo = createTool({ id: 'echo', inputSchema, execute: ({ text }) => text })
  const server = createServer({ tools: { echo } })
  expect((await callTool(server, 'echo', { text: 'hi' })).result).toMatchObject({ content: [{ text: 'hi' }] })
  expect((await callTool(server, 'echo', { text: 1 })).result).toMatchObject({ isError: true })
  expect(convert).not.toHaveBeenCalled()
  await modern(server, 'tools/list')
  await callTool(server, 'echo', { text: 'hi' })
  await legacy(server, 'tools/list')
  expect(convert).toHaveBeenCalledOnce()
})

it('an annotation that zod is told of after the first call: what the list then shows holds for calls', async () => {
  const text = z.string()
  const inputSchema = z.object({ text })
  const server = createServer({
    tools: { echo: createTool({ id: 'echo', inputSchema, execute: () => 'done' }) },
  })
  const call = (header: string) =>
    callTool(server, 'echo', { text: 'hi' }, { headers: { 'mcp-param-text': header } })
  expect((await call('ho')).error).toBeUndefined()
  z.globalRegistry.add(text, { 'x-mcp-header': 'Text' })
  await modern(server, 'tools/list')
  expect((await call('ho')).error).toMatchObject({ code: -32020 })
  expect((await call('hi')).error).toBeUndefined()
})

it('a schema of zod that contains itself: its tool is called and listed', async () => {
  const tree: z.ZodObject = z.object({
    name: z.string(),
    get first() {
      return tree.optional()
    },
    get second() {
      return z.array(tree).optional()
    },
    get third() {
      return z.object({ tree: tree.nullable() }).optional()
    },
  })
  const echo = createTool({ id: 'echo', inputSchema: tree, execute: (input) => JSON.stringify(input) })
  const server = createServer({ tools: { echo } })
  const input = { name: 'a', first: { name: 'b' }, second: [{ name: 'c' }], third: { tree: null } }
  expect((await callTool(server, 'echo', input)).result).toMatchObject({
    content: [{ text: JSON.stringify(input) }],
  })
  expect(namesIn(await modern(server, 'tools/list'))).toEqual(['echo'])
})

it('a list converts what no call has, and no later call converts any', async () => {
  const { server, conversions } = many()
  await callTool(server, 't0', {})
  await modern(server, 'tools/list')
  for (let call = 0; call < 10; call++) await callTool(server, `t${call}`, {})
  expect(new Set(conversions())).toEqual(new Set([1]))
})

it('getToolListInfo converts all: what a build asks, so that nothing is found later', () => {
  const { server, conversions } = many()
  server.getToolListInfo()
  expect(new Set(conversions())).toEqual(new Set([1]))
})

it('lists of both eras convert each schema once, however often they are asked for', async () => {
  const { server, conversions } = many()
  for (let list = 0; list < 5; list++) {
    expect(namesIn(await modern(server, 'tools/list'))).toHaveLength(COUNT)
    expect(namesIn(await legacy(server, 'tools/list'))).toHaveLength(COUNT)
  }
  expect(new Set(conversions())).toEqual(new Set([1]))
})

it('setup that enables a declared tool converts nothing; one that adds a tool converts it in each request', async () => {
  const { schema, count } = counted()
  const added = counted()
  const hidden = createTool({ id: 'hidden', enabled: false, inputSchema: schema, execute: () => 'shown' })
  const server = createServer({
    tools: { hidden },
    setup: (request) => {
      request.tool('hidden').enable()
      request.registerTool('added', { inputSchema: added.schema }, () => 'added')
    },
  })
  for (let call = 0; call < 3; call++) {
    expect((await callTool(server, 'hidden', {})).result).toMatchObject({ content: [{ text: 'shown' }] })
    expect((await callTool(server, 'added', {})).result).toMatchObject({ content: [{ text: 'added' }] })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['hidden', 'added'])
  }
  expect(count()).toBe(1)
  expect(added.count()).toBeGreaterThanOrEqual(3)
})
