/** What a verifier is told to compare a token's audience with: this server's address, and never the word of its caller. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  bearer,
  createGate,
  InvalidTokenError,
  VerifierUnavailableError,
  type VerifyToken,
} from '../../../src/auth.ts'
import type { HttpConfig, RequestPlatform } from '../../../src/index.ts'
import { check } from '../../property/_seeded.ts'
import { createServer, modernRequest } from '../_client.ts'

/** The token is the resource that it was issued for. */
const byAudience: VerifyToken = (token, { resource }) => token === resource && { clientId: 'desk' }

interface Arrangement {
  url?: string
  token?: string
  http?: HttpConfig
  platform?: RequestPlatform
  headers?: Record<string, string>
  verify?: VerifyToken
}

async function statusOf({
  url = 'https://mcp.example/mcp',
  token = url,
  http = {},
  platform = {},
  headers = {},
  verify = byAudience,
}: Arrangement): Promise<number> {
  const server = createServer({ auth: bearer(verify), http, onError: () => {} })
  const request = modernRequest(
    'server/discover',
    {},
    { url, headers: { authorization: `Bearer ${token}`, host: new URL(url).host, ...headers } },
  )
  return (await server.handle(request, platform)).status
}

describe('a verifier that compares with `resource`', () => {
  it.each<[string, Arrangement]>([
    [
      'publicUrl says it',
      {
        http: { publicUrl: 'https://mcp.example/mcp' },
        url: 'http://10.0.0.7/x',
        token: 'https://mcp.example/mcp',
      },
    ],
    ['allowedHosts name the host', { http: { allowedHosts: ['other.example', 'MCP.example.'] } }],
    [
      'allowedHosts name its port',
      { http: { allowedHosts: ['mcp.example:8443'] }, url: 'https://mcp.example:8443/mcp' },
    ],
    [
      'MAYFLY_ALLOWED_HOSTS name the host beside what is none',
      { platform: { env: { MAYFLY_ALLOWED_HOSTS: 'no host,mcp.example' } } },
    ],
    ['MAYFLY_ALLOWED_HOSTS name the host', { platform: { env: { MAYFLY_ALLOWED_HOSTS: 'mcp.example' } } }],
    ['the platform vouches for the host', { platform: { vouchesForHost: true } }],
    [
      'the platform vouches for the host and its port',
      { platform: { vouchesForHost: true }, url: 'https://mcp.example:8443/mcp' },
    ],
    ['the listener is loopback', { platform: { loopback: true }, url: 'http://localhost:3000/mcp' }],
    [
      'this machine is among the hosts',
      { http: { allowedHosts: ['127.0.0.1'] }, url: 'http://127.0.0.1:3000/mcp' },
    ],
    [
      'the proxy’s host is among the hosts',
      {
        http: { allowedHosts: ['mcp.example'], trustProxy: true },
        url: 'http://10.0.0.7/mcp',
        headers: { 'x-forwarded-host': 'mcp.example', 'x-forwarded-proto': 'https' },
        token: 'https://mcp.example/mcp',
      },
    ],
  ])('is told it where %s [auth.resource]', async (_what, arrangement) => {
    expect(await statusOf(arrangement)).toBe(200)
    expect(await statusOf({ ...arrangement, token: 'https://other.example/mcp' })).toBe(401)
  })

  it.each<[string, Arrangement]>([
    ['nothing says whose the host is', {}],
    ['nothing does, though the host is a local one', { url: 'http://localhost:3000/mcp' }],
    ['a proxy is trusted: it passes on what its client wrote', { http: { trustProxy: true } }],
    [
      'the platform vouches for another host than the forwarded one',
      {
        platform: { vouchesForHost: true },
        http: { trustProxy: true },
        headers: { 'x-forwarded-host': 'evil.example' },
        token: 'https://evil.example/mcp',
      },
    ],
    [
      'allowedHosts name the host with any port, and not this one',
      { http: { allowedHosts: ['mcp.example'] }, url: 'https://mcp.example:8443/mcp' },
    ],
    // The host in the request's line (RFC 9112 §3.2.2), beside a Host header that is right.
    [
      'the URL’s host is another than the header’s',
      {
        http: { allowedHosts: ['mcp.example'] },
        url: 'https://evil.example/mcp',
        headers: { host: 'mcp.example' },
      },
    ],
    [
      'the URL’s host is none that could be compared',
      {
        http: { allowedHosts: ['mcp.example'] },
        url: 'https://mcp..example/mcp',
        headers: { host: 'mcp.example' },
      },
    ],
    [
      'the listener is loopback, and the URL’s host is not',
      { platform: { loopback: true }, url: 'https://evil.example/mcp', headers: { host: 'localhost:3000' } },
    ],
    ['the platform does not vouch', { platform: { vouchesForHost: false } }],
  ])('is refused where %s → 503 [auth.resource]', async (_what, arrangement) => {
    expect(await statusOf(arrangement)).toBe(503)
  })

  it('the operator is told once, and what to set [auth.resource]', async () => {
    const onError = vi.fn()
    const server = createServer({ auth: bearer(byAudience), onError })
    const headers = { authorization: 'Bearer https://mcp.example/mcp' }
    for (let call = 0; call < 3; call++) {
      const response = await server.fetch(modernRequest('server/discover', {}, { headers }))
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await response.text()).not.toMatch(/publicUrl|allowedHosts/)
    }
    expect(onError).toHaveBeenCalledOnce()
    const [error] = onError.mock.calls[0]!
    expect(error).toBeInstanceOf(VerifierUnavailableError)
    expect(error.message).toMatch(/http\.publicUrl.*http\.allowedHosts.*MAYFLY_ALLOWED_HOSTS/)
  })

  it.each<[string, VerifyToken]>([
    [
      'catches what it throws',
      (token, context) => {
        try {
          return context.resource === token && { clientId: 'desk' }
        } catch {
          return { clientId: 'desk' }
        }
      },
    ],
    [
      'says that the token is bad',
      (_token, context) => {
        try {
          return { clientId: context.resource }
        } catch {
          throw new InvalidTokenError('No.')
        }
      },
    ],
    [
      'fails in another way',
      async (_token, context) => {
        try {
          return { clientId: context.resource }
        } catch {
          throw new Error('broken')
        }
      },
    ],
  ])('is refused all the same where it %s [auth.resource]', async (_what, verify) => {
    expect(await statusOf({ verify })).toBe(503)
    expect(await statusOf({ verify, platform: { vouchesForHost: true } })).toBe(200)
  })

  it('a verifier of one’s own that throws at once is no way around [auth.resource]', async () => {
    const auth = createGate({
      authorizationServers: [],
      verify: (_token, context) => {
        try {
          return Promise.resolve({ clientId: context.resource })
        } catch {
          throw new InvalidTokenError('No.')
        }
      },
    })
    const headers = { authorization: 'Bearer any' }
    const response = await createServer({ auth, onError: () => {} }).fetch(
      modernRequest('server/discover', {}, { headers }),
    )
    expect(response.status).toBe(503)
  })

  it('one that does not read it is not concerned [auth.resource]', async () => {
    expect(await statusOf({ verify: () => ({ clientId: 'desk' }) })).toBe(200)
    expect(
      await statusOf({ verify: (_token, { env, request }) => ({ clientId: `${env} ${request.url}` }) }),
    ).toBe(200)
  })

  it('no caller chooses the host that its token is compared with [auth.resource]', async () => {
    const host = fc.constantFrom(
      ...['evil.example', 'mcp.example', 'mcp.example:8443', 'MCP.EXAMPLE', 'mcp.example.', 'localhost:3000'],
      ...['127.0.0.1', '[::1]:3000', 'mcp.example.evil.example', '10.0.0.7', 'xn--mcp.example', 'mcp:80'],
    )
    const http = fc.record({
      trustProxy: fc.boolean(),
      allowedHosts: fc.constantFrom(undefined, ['mcp.example'], ['mcp.example', 'localhost'], []),
    })
    const platform = fc.record({ loopback: fc.boolean(), vouchesForHost: fc.constant(false) })
    await check(
      fc.asyncProperty(
        host,
        host,
        host,
        http,
        platform,
        async (urlHost, header, forwarded, http, platform) => {
          const seen: string[] = []
          const verify: VerifyToken = (_token, { resource }) => {
            seen.push(new URL(resource).hostname.replace(/\.$/, ''))
            return undefined
          }
          const headers = { host: header, 'x-forwarded-host': forwarded }
          const { allowedHosts, trustProxy } = http
          const config = { trustProxy, ...(allowedHosts !== undefined && { allowedHosts }) }
          await statusOf({
            url: `https://${urlHost}/mcp`,
            token: 'any',
            headers,
            http: config,
            platform,
            verify,
          })
          const own = [
            ...(allowedHosts ?? []),
            ...(platform.loopback ? ['localhost', '127.0.0.1', '[::1]'] : []),
          ]
          for (const name of seen) expect(own).toContain(name)
        },
      ),
      1000,
    )
  })
})
