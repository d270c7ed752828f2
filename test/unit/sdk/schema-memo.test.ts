/** Schemas behind `fromSdk` become JSON Schema once, and every library's are served as without it. */
import { McpServer, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { fromSdk } from '../../../src/sdk.ts'
import { modernRequest } from '../_client.ts'

type Options = { readonly target: string }

const JSON_SCHEMA = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** What is counted as a conversion. */
let conversions = 0

const convert = (): object => {
  conversions++
  return structuredClone(JSON_SCHEMA)
}

/** A library that keeps its state in an instance. */
class Converter {
  readonly #schema = JSON_SCHEMA
  input(_options: Options) {
    conversions++
    return structuredClone(this.#schema)
  }
  output(options: Options) {
    return this.input(options)
  }
}

const validate = (value: unknown) => ({ value })

const CONVERTERS: Record<string, object> = {
  'plain functions': { input: () => convert(), output: () => JSON_SCHEMA },
  'a class': new Converter(),
  getters: {
    get input() {
      return () => convert()
    },
    get output() {
      return () => JSON_SCHEMA
    },
  },
  'what is frozen': Object.freeze({ input: () => convert(), output: () => JSON_SCHEMA }),
}

function serve(inputSchema: StandardSchemaWithJSON<unknown, { text: string }>) {
  return fromSdk(
    () => {
      const server = new McpServer({ name: 'desk', version: '1.0.0' })
      server.registerTool('say', { inputSchema }, async ({ text }) => ({
        content: [{ type: 'text', text }],
      }))
      return server
    },
    { log: false },
  )
}

const list = async (server: ReturnType<typeof fromSdk>) => {
  const response = await server.fetch(modernRequest('tools/list'))
  const { result } = (await response.json()) as { result: { tools: { inputSchema: object }[] } }
  return result.tools[0]!.inputSchema
}

test.each(Object.keys(CONVERTERS))('a library with %s', async (how) => {
  const schema = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema: CONVERTERS[how] } }
  const server = serve(schema as never)
  conversions = 0
  for (let n = 0; n < 3; n++) expect(await list(server)).toMatchObject(JSON_SCHEMA)
  expect(conversions).toBe(how === 'plain functions' ? 1 : 3)
  const call = modernRequest('tools/call', { name: 'say', arguments: { text: 'hi' } })
  expect(await (await server.fetch(call)).text()).toContain('"hi"')
})

test('the same schema of zod gives what zod gives, in both directions and for other targets', async () => {
  const schema = z.object({ text: z.string().default('x') })
  const fresh = z.object({ text: z.string().default('x') })
  const server = serve(schema as never)
  await list(server)
  await list(server)
  for (const target of ['draft-2020-12', 'draft-07'] as const) {
    for (const direction of ['input', 'output'] as const) {
      const convert = schema['~standard'].jsonSchema[direction]
      expect(convert({ target })).toEqual(fresh['~standard'].jsonSchema[direction]({ target }))
    }
  }
})
