/** What would be missed without a word is refused, with what to write. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createTool, MCPServer, type MCPServerConfig } from '../../src/index.ts'
import { call } from './_call.ts'

const IDENTITY = { id: 'desk', name: 'Desk', version: '1.0.0', log: false } as const
const execute = (): string => 'ran'

const serverOf = (more: object): MCPServer => new MCPServer({ ...IDENTITY, ...more } as MCPServerConfig)

it.each(['authorization', 'oauth', 'tool', 'cacheHints'])('new MCPServer({ %s })', (option) => {
  expect(() => serverOf({ [option]: {} })).toThrow(`MCPServer has no option "${option}"`)
})

it.each(['allowedHost', 'rateLimit', 'auth'])('new MCPServer({ http: { %s } })', (option) => {
  expect(() => serverOf({ http: { [option]: {} } })).toThrow(`"http" has no option "${option}"`)
})

it.each(['schema', 'input', 'scope', 'strict'])('createTool({ %s })', (option) => {
  expect(() => createTool({ id: 'tool', execute, [option]: {} })).toThrow(
    `createTool has no option "${option}"`,
  )
})

it.each(['needsApproval', 'requireApproval'])('a tool of whatever kit with %s', (option) => {
  const tool = { description: 'Deletes', execute, [option]: true }
  expect(() => serverOf({ tools: { tool } })).toThrow(
    `"${option}", which is not supported: ask with ctx.elicit`,
  )
  expect(() => serverOf({ tools: { tool: { ...tool, [option]: false } } })).not.toThrow()
})

it('the jsonSchema() of another library', async () => {
  const inputSchema = { jsonSchema: { type: 'object' }, validate: () => ({ success: true }) }
  const server = serverOf({ tools: { tool: { execute, inputSchema } } })
  expect(() => server.getToolListInfo()).toThrow(
    'comes from the jsonSchema() of another library: use the one of mayfly-mcp',
  )
})

it('registerTool, registerResource and registerPrompt as other kits call them', () => {
  const server = serverOf({})
  const register = server as unknown as Record<string, (...args: unknown[]) => unknown>
  expect(() => register.registerTool!({ name: 'tool' }, execute)).toThrow(
    'takes a name, a configuration and a function',
  )
  expect(() => register.registerTool!('tool', {})).toThrow('takes a name, a configuration and a function')
  expect(() => register.registerResource!('notes', 'note://a', {}, execute)).toThrow('{ uri, name, read }')
  expect(() => register.registerPrompt!('ask', {}, execute)).toThrow('{ argsSchema, get }')
})

it.each<[string, () => unknown]>([
  [
    'AsyncGenerator',
    async function* () {
      yield 'piece'
    },
  ],
  ['Map', () => new Map([['a', 1]])],
  ['Response', () => new Response('text')],
  ['ReadableStream', () => new ReadableStream()],
])('a result of type %s is an error that says so', async (kind, returns) => {
  const server = serverOf({ tools: { tool: { description: 'x', execute: returns } }, onError: () => {} })
  const { isError, text } = await call(server, 'tool', {})
  expect(isError).toBe(true)
  expect(text).toContain(`an object of type ${kind}: return its content instead`)
})

it('a function as result is an error that says so, without its source', async () => {
  const returns = () => () => 'of the source'
  const server = serverOf({ tools: { tool: { description: 'x', execute: returns } }, onError: () => {} })
  const { isError, text } = await call(server, 'tool', {})
  expect(isError).toBe(true)
  expect(text).toContain('execute returned a function: return its result.')
  expect(text).not.toContain('of the source')
})

/** As an ORM returns it, without being a promise. */
class Query {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is.
  then(): void {}
}

it.each<[string, () => unknown]>([
  ['a', () => ({ a: Promise.resolve(1) })],
  ['price', () => ({ id: 1, items: [{}, { price: Promise.resolve(1) }] })],
  ['1', () => [1, Promise.resolve(1)]],
  ['row', () => ({ row: new Query() })],
])('a promise in a result, as "%s", is an error that says so', async (name, returns) => {
  const server = serverOf({ tools: { tool: { description: 'x', execute: returns } }, onError: () => {} })
  const { isError, text } = await call(server, 'tool', {})
  expect(isError).toBe(true)
  expect(text).toContain(`execute returned a promise in "${name}": write await before it.`)
})

it.each([
  [
    'an object of a class',
    new (class {
      readonly hidden = undefined
    })(),
  ],
  ['an empty object', {}],
  ['a Date', new Date(0)],
  ['empty objects in it', { a: {}, b: [{}, null, new Date(0)], c: 'a {}' }],
])('%s is a result', async (_what, value) => {
  const server = serverOf({ tools: { tool: { description: 'x', execute: () => value } } })
  expect((await call(server, 'tool', {})).isError).not.toBe(true)
})

it.each([
  ['a union', z.union([z.object({ context: z.string() }), z.object({ other: z.string() })])],
  ['an open object', z.looseObject({})],
])('`context` may be a member of the input: %s', async (_what, inputSchema) => {
  const tool = {
    description: 'x',
    inputSchema,
    execute: ({ context }: { context?: unknown }) => String(context),
  }
  const server = serverOf({ tools: { tool } })
  expect((await call(server, 'tool', { context: 'here' })).text).toBe('here')
})

it.each([
  ['schema', /has no option "schema": did you mean "inputSchema"/],
  ['inputSchmea', /has no option "inputSchmea"/],
])('registerTool with %s → TypeError that names it', (option, message) => {
  const config = { description: 'Greets', [option]: { name: z.string() } }
  const server = new MCPServer({ id: 'a', name: 'A', version: '1', log: false })
  expect(() => server.registerTool('greet', config, () => 'hello')).toThrow(message)
})

it('a list of tools → TypeError, as the names would be numbers', () => {
  const greet = createTool({ id: 'greet', execute: () => 'hello' })
  const config = { id: 'a', name: 'A', version: '1', tools: [greet] as never }
  expect(() => new MCPServer(config)).toThrow('"tools" is a list: it must be an object')
})
