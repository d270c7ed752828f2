/** Authorization as Mastra configures it, on a server of ours. */
import { describe, expect, it, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import {
  createIntrospectionValidator,
  createStaticTokenValidator,
  type OAuthConfig,
  oauth,
  type TokenValidationResult,
} from '../../../src/mastra.ts'
import { callTool, createServer } from '../_client.ts'

const resource = 'https://mcp.example/mcp'
const authorizationServers = ['https://auth.example.com']
const whoami = createTool({ id: 'whoami', execute: (_input, ctx) => ({ ...ctx.auth, token: '' }) })

function ask(validateToken: OAuthConfig['validateToken'], token = 'a-token') {
  const auth = oauth({ resource, authorizationServers, validateToken })
  const server = createServer({ tools: { whoami }, auth, onError: () => {} })
  return callTool(server, 'whoami', {}, { headers: { authorization: `Bearer ${token}` } })
}

describe('oauth({ validateToken })', () => {
  it('is asked with the token and the resource; what it answers is ctx.auth', async () => {
    const validateToken = vi.fn(async () => ({
      valid: true,
      scopes: ['mcp:read'],
      subject: 'ada',
      expiresAt: 4_000_000_000,
      claims: { tier: 'gold' },
    }))
    const { result } = await ask(validateToken)
    expect(validateToken).toHaveBeenCalledExactlyOnceWith('a-token', resource)
    expect(result?.structuredContent).toMatchObject({
      scopes: ['mcp:read'],
      expiresAt: 4_000_000_000,
      extra: { sub: 'ada', tier: 'gold' },
    })
  })

  it.each<[string, TokenValidationResult, number]>([
    ['valid: false', { valid: false, error: 'invalid_token', errorDescription: 'Unknown.' }, 401],
    ['valid that is no boolean', { valid: 'yes' as never }, 401],
    ['expired', { valid: true, expiresAt: 1 }, 401],
    ['server_error', { valid: false, error: 'server_error' }, 503],
  ])('%s → refused', async (_kind, answer, status) => {
    expect((await ask(() => answer)).status).toBe(status)
  })

  it('without validateToken, or without a resource → TypeError', () => {
    const config: OAuthConfig = { resource, authorizationServers, validateToken: undefined as never }
    expect(() => oauth(config)).toThrow('oauth needs "validateToken"')
    expect(() => oauth({ ...config, resource: 'mcp', validateToken: () => ({ valid: true }) })).toThrow(
      '"resource"',
    )
  })

  it.each([undefined, null, 'https://auth.example.com', ['auth'], [1]])(
    'authorizationServers %j → TypeError, before anybody asks for the metadata',
    (servers) => {
      const validateToken = () => ({ valid: true })
      expect(() => oauth({ resource, authorizationServers: servers as never, validateToken })).toThrow(
        '"authorizationServers"',
      )
    },
  )
})

describe('createStaticTokenValidator', () => {
  it('takes its tokens, and no other', async () => {
    const validateToken = createStaticTokenValidator(['allowed-token-01', 'allowed-token-02'])
    expect((await ask(validateToken, 'allowed-token-02')).result?.structuredContent).toMatchObject({
      scopes: ['mcp:read', 'mcp:write'],
    })
    expect((await ask(validateToken, 'allowed-token-03')).status).toBe(401)
  })

  it('a token under 16 characters → TypeError', () => {
    expect(() => createStaticTokenValidator(['short'])).toThrow('at least 16 characters')
  })
})

describe('createIntrospectionValidator', () => {
  const credentials = { clientId: 'mcp-server', clientSecret: 'secret' }

  it.each<[string, object, boolean]>([
    ['for this server', { active: true, aud: resource, sub: 'ada', scope: 'a b' }, true],
    ['for another', { active: true, aud: 'https://other.example', sub: 'ada' }, false],
    ['for nobody', { active: true, sub: 'ada' }, false],
    ['inactive', { active: false, aud: resource }, false],
  ])('a token %s', async (_kind, answer, valid) => {
    const asked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(answer))
    try {
      const result = await createIntrospectionValidator('https://auth.example.com/introspect', credentials)(
        't',
        resource,
      )
      expect(result).toMatchObject(valid ? { valid, scopes: ['a', 'b'], subject: 'ada' } : { valid })
      expect(asked).toHaveBeenCalledOnce()
    } finally {
      asked.mockRestore()
    }
  })

  it.each<[string, string, object]>([
    ['no TLS', 'http://auth.example.com/introspect', credentials],
    ['no credentials', 'https://auth.example.com/introspect', {}],
  ])('%s → TypeError', (_kind, endpoint, given) => {
    expect(() => createIntrospectionValidator(endpoint, given as typeof credentials)).toThrow(TypeError)
  })
})
