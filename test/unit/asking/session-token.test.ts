/** The session token of a legacy client: sealed where there is a secret, and never needed. */
import { describe, expect, it } from 'vitest'
import { createTool, type MCPServerConfig } from '../../../src/index.ts'
import { createServer, initialize, legacy, textOf } from '../_client.ts'

const secret = 'a-secret-of-the-tests-that-is-long-enough'
const who = createTool({
  id: 'who',
  execute: (_input, ctx) =>
    JSON.stringify([ctx.clientInfo?.name, ctx.clientCapabilities, ctx.sessionId !== undefined]),
})

const serverOf = (config: Partial<MCPServerConfig> = {}) => createServer({ tools: { who }, ...config })

const tokenOf = async (server: ReturnType<typeof serverOf>) =>
  (await initialize(server, { capabilities: { roots: {} } })).headers.get('mcp-session-id')!

const ask = async (server: ReturnType<typeof serverOf>, token: string) =>
  JSON.parse(
    textOf(await legacy(server, 'tools/call', { name: 'who' }, { headers: { 'mcp-session-id': token } }))!,
  ) as unknown[]

describe('the session token', () => {
  it('sealed → carries what the client declared to any process with the secret, and shows nothing [legacy.session-token]', async () => {
    const token = await tokenOf(serverOf({ secret }))
    expect(
      Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url').toString('latin1'),
    ).not.toContain('roots')
    const other = serverOf({ secret })
    expect(await ask(other, token)).toEqual(['unit', { roots: {} }, true])
    expect(await ask(other, token)).toEqual(['unit', { roots: {} }, true])
  })

  it('without a secret → carries the same, plain [legacy.session-token]', async () => {
    expect(await ask(serverOf(), await tokenOf(serverOf()))).toEqual(['unit', { roots: {} }, true])
  })

  it.each([
    ['changed', (token: string) => `${token.slice(0, -2)}xx`],
    ['truncated', (token: string) => token.slice(0, 30)],
    ['of somebody else', () => 'b4e1-another-server'],
    ['far too long', () => 'x'.repeat(5000)],
  ])('%s → ignored, and the call served [legacy.session-token]', async (_label, change) => {
    const server = serverOf({ secret })
    expect(await ask(server, change(await tokenOf(server)))).toEqual([null, {}, false])
  })

  it('of another deployment → ignored [legacy.session-token]', async () => {
    const token = await tokenOf(serverOf({ secret: 'another-secret-of-the-tests-long-enough' }))
    expect(await ask(serverOf({ secret }), token)).toEqual([null, {}, false])
    expect(await ask(serverOf(), token)).toEqual([null, {}, false])
  })
})
