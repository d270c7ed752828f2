/** `Mcp-Session-Id`: what a client said in `initialize` comes back with it, and any other value does no harm. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MCPServer } from '../../src/index.ts'
import { answerOf, legacyRequest } from './_client.ts'
import { check } from './_seeded.ts'

const MAX_HEADER_LENGTH = 2048

const server = new MCPServer({ id: 'sessions', name: 'Sessions', version: '1.0.0', log: false })
server.registerTool('whoami', {}, ({ sessionId, protocolVersion, clientInfo, clientCapabilities }) => ({
  sessionId: sessionId ?? null,
  protocolVersion,
  clientInfo: clientInfo ?? null,
  clientCapabilities,
}))

interface Client {
  readonly protocolVersion: string
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly capabilities: { readonly [name: string]: object }
}

const isWellFormed = (value: string): boolean => Buffer.from(value, 'utf8').toString('utf8') === value
const text = fc.string({ unit: 'binary', maxLength: 60 }).filter(isWellFormed)
/** `__proto__` is refused wherever it comes from a client. */
const key = text.filter((name) => name !== '__proto__')

const client: fc.Arbitrary<Client> = fc.record({
  protocolVersion: fc.constantFrom('2025-03-26', '2025-06-18', '2025-11-25'),
  clientInfo: fc.record({ name: text, version: text }),
  capabilities: fc.dictionary(
    fc.oneof(fc.constantFrom('roots', 'sampling', 'elicitation', 'experimental'), key),
    fc.dictionary(key, fc.oneof(fc.boolean(), text, fc.constant({})), { maxKeys: 3, noNullPrototype: true }),
    { maxKeys: 8, noNullPrototype: true },
  ),
})

async function initialize(params: Client): Promise<string | null> {
  const response = await server.fetch(legacyRequest('initialize', { params: { ...params } }))
  expect(response.status).toBe(200)
  return response.headers.get('mcp-session-id')
}

/** Without a version header: what the session says is all there is. */
async function whoami(sessionId: string): Promise<{ status: number; facts: unknown }> {
  const request = legacyRequest('tools/call', {
    params: { name: 'whoami' },
    headers: { 'mcp-session-id': sessionId },
  })
  request.headers.delete('mcp-protocol-version')
  const { status, result } = await answerOf(await server.fetch(request))
  return { status, facts: result?.structuredContent }
}

const STRANGER = { sessionId: null, protocolVersion: '2025-03-26', clientInfo: null, clientCapabilities: {} }

describe('Mcp-Session-Id', () => {
  test('of any client → what it said of itself', async () => {
    await check(
      fc.asyncProperty(client, async (said) => {
        const sessionId = await initialize(said)
        fc.pre(sessionId !== null)
        const { protocolVersion, clientInfo, capabilities } = said
        expect(await whoami(sessionId!)).toEqual({
          status: 200,
          facts: { sessionId, protocolVersion, clientInfo, clientCapabilities: capabilities },
        })
      }),
      300,
    )
  })

  test('of a client that says much → none, rather than a header that proxies refuse', async () => {
    await check(
      fc.asyncProperty(client, fc.integer({ min: 0, max: 4000 }), async (said, length) => {
        const clientInfo = { ...said.clientInfo, name: 'n'.repeat(length) }
        const sessionId = await initialize({ ...said, clientInfo })
        if (length > MAX_HEADER_LENGTH) expect(sessionId).toBeNull()
        expect(sessionId?.length ?? 0).toBeLessThanOrEqual(MAX_HEADER_LENGTH)
      }),
      100,
    )
  })

  test('that is garbage → ignored', async () => {
    const visible = fc.stringMatching(/^[\x21-\x7e]{1,80}$/)
    const json = fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text).toString('base64url'))
    const garbage = fc.oneof(
      visible,
      fc.uuid(),
      visible.map((text) => `mayfly1.${text}`),
      json.map((text) => `mayfly1.${text}`),
    )
    await check(
      fc.asyncProperty(garbage, async (sessionId) => {
        expect(await whoami(sessionId)).toEqual({ status: 200, facts: STRANGER })
      }),
      400,
    )
  })

  test('with one character changed → served, with facts of the right types or none', async () => {
    await check(
      fc.asyncProperty(client, fc.nat(), fc.stringMatching(/^[\x21-\x7e]$/), async (said, at, character) => {
        const sessionId = await initialize(said)
        fc.pre(sessionId !== null)
        const index = at % sessionId!.length
        const { status, facts } = await whoami(
          sessionId!.slice(0, index) + character + sessionId!.slice(index + 1),
        )
        expect(status).toBe(200)
        expect(facts).toMatchObject({
          protocolVersion: expect.any(String),
          clientCapabilities: expect.any(Object),
        })
        const { clientInfo } = facts as { clientInfo: unknown }
        if (clientInfo !== null)
          expect(clientInfo).toEqual({ name: expect.any(String), version: expect.any(String) })
      }),
      300,
    )
  })
})
