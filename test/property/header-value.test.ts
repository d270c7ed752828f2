/** `Mcp-Name` in its plain and its Base64 form (MCP 2026-07-28, Streamable HTTP, "Value Encoding"). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MCPServer } from '../../src/index.ts'
import { answerOf, inBase64, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

/** Well-formed: a lone surrogate has no UTF-8, so no header can carry it. */
const name = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.string({ minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      '=?base64?ZWNobw==?=',
      '=?base64?=',
      '=?base64??=',
      ' echo ',
      '\t',
      'ünï ☃ 🎈',
      '\ufeffbom',
    ),
  )
  .filter((value) => Buffer.from(value, 'utf8').toString('utf8') === value)

/** Whether the spec lets a client send `value` as it is. */
const isPlain = (value: string): boolean =>
  /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) &&
  !(value.startsWith('=?base64?') && value.endsWith('?='))

async function call(name: string, header: string): Promise<{ status: number; outcome: unknown }> {
  const server = new MCPServer({ id: 'names', name: 'Names', version: '1.0.0', log: false })
  server.registerTool(name, {}, () => 'called')
  const request = modernRequest('tools/call', { params: { name }, headers: { 'mcp-name': header } })
  const { status, error, result } = await answerOf(await server.fetch(request))
  return { status, outcome: error?.code ?? (result!.content as { text: string }[])[0]!.text }
}

const CALLED = { status: 200, outcome: 'called' }
const MISMATCH = { status: 400, outcome: -32020 }

describe('Mcp-Name', () => {
  test('in Base64, of any name → the tool is called', async () => {
    await check(
      fc.asyncProperty(name, async (name) => {
        expect(await call(name, inBase64(name))).toEqual(CALLED)
      }),
      300,
    )
  })

  test('as it is, of a name that a header can carry → the tool is called', async () => {
    await check(
      fc.asyncProperty(name.filter(isPlain), async (name) => {
        expect(await call(name, name)).toEqual(CALLED)
      }),
      200,
    )
  })

  test('of another name, in either form → -32020', async () => {
    await check(
      fc.asyncProperty(name, name, fc.boolean(), async (name, other, plainly) => {
        fc.pre(name !== other)
        const header = plainly && isPlain(other) ? other : inBase64(other)
        expect(await call(name, header)).toEqual(MISMATCH)
      }),
      300,
    )
  })

  test('in what only looks like Base64 of it → -32020', async () => {
    const spoil = fc.constantFrom<(encoded: string) => string>(
      (encoded) => encoded.replace(/=+$/, ''),
      (encoded) => `${encoded}=`,
      (encoded) => `${encoded.slice(0, 2)} ${encoded.slice(2)}`,
      (encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_'),
      (encoded) => `${encoded}!`,
      (encoded) => encoded.slice(1),
    )
    await check(
      fc.asyncProperty(name, spoil, async (name, spoil) => {
        const encoded = Buffer.from(name, 'utf8').toString('base64')
        const spoilt = spoil(encoded)
        fc.pre(spoilt !== encoded)
        expect(await call(name, `=?base64?${spoilt}?=`)).toEqual(MISMATCH)
      }),
      400,
    )
  })

  test('in Base64 of bytes that are no UTF-8, though they read like it → -32020', async () => {
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 24 })
      .filter((value) => !Buffer.from(Buffer.from(value).toString('utf8'), 'utf8').equals(value))
    await check(
      fc.asyncProperty(bytes, async (value) => {
        const replaced = Buffer.from(value).toString('utf8')
        const header = `=?base64?${Buffer.from(value).toString('base64')}?=`
        expect(await call(replaced, header)).toEqual(MISMATCH)
      }),
      200,
    )
  })
})
