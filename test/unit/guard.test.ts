import { describe, expect, it } from 'vitest'
import { ErrorCode, type HttpConfig, type RequestPlatform } from '../../src/index.ts'
import { createServer, modernRequest, readAnswer } from './_client.ts'

interface Arrival {
  url?: string
  host?: string
  origin?: string
  http?: HttpConfig
  platform?: RequestPlatform
}

async function statusOf({
  url = 'https://mcp.example/mcp',
  host,
  origin,
  http = {},
  platform = {},
}: Arrival) {
  const headers = { host: host ?? new URL(url).host, ...(origin !== undefined && { origin }) }
  const response = await createServer({ http }).handle(
    modernRequest('server/discover', {}, { url, headers }),
    platform,
  )
  return response.status
}

describe('allowedHosts', () => {
  const http = { allowedHosts: ['mcp.example', 'other.example:8443', 'UPPER.example'] }

  it.each(['mcp.example', 'mcp.example:9000', 'MCP.EXAMPLE', 'other.example:8443', 'upper.example'])(
    '%s → served [guard.host]',
    async (host) => {
      expect(await statusOf({ host, http })).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'mcp.example.evil.example',
    'xmcp.example',
    'other.example',
    'other.example:8444',
    'localhost',
    '127.0.0.1',
  ])('%s → 403 [guard.host]', async (host) => {
    expect(await statusOf({ host, http })).toBe(403)
  })

  it('without a Host header the URL’s counts [guard.host]', async () => {
    const server = createServer({ http })
    const fetch = (url: string) => server.fetch(new Request(url, { headers: { accept: 'text/html' } }))
    expect((await fetch('https://mcp.example')).status).toBe(200)
    expect((await fetch('https://evil.example')).status).toBe(403)
  })

  it('forwarded headers change nothing [guard.host]', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'mcp.example', forwarded: 'host=mcp.example' }
    const response = await createServer({ http }).fetch(modernRequest('server/discover', {}, { headers }))
    expect(response.status).toBe(403)
  })

  it('the refusal is a JSON-RPC error without id, and says nothing of what is allowed [guard.host]', async () => {
    const headers = { host: 'evil.example' }
    const { error, message } = await readAnswer(
      await createServer({ http }).fetch(modernRequest('server/discover', {}, { headers })),
    )
    expect(error?.code).toBe(ErrorCode.invalidRequest)
    expect(message).not.toHaveProperty('id')
    expect(JSON.stringify(message)).not.toContain('mcp.example')
  })

  it('guards every path and method but the health check [guard.host]', async () => {
    const server = createServer({ http })
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/.well-known/oauth-protected-resource'],
      ['OPTIONS', '/mcp'],
      ['DELETE', '/mcp'],
    ]) {
      const response = await server.fetch(new Request(`https://evil.example${path}`, { method: method! }))
      expect([method, path, response.status]).toEqual([method, path, 403])
    }
  })

  it('none declared → any host [guard.host]', async () => {
    expect(await statusOf({ host: 'anything.example' })).toBe(200)
  })
})

describe('MAYFLY_ALLOWED_HOSTS', () => {
  const platform = { env: { MAYFLY_ALLOWED_HOSTS: 'mcp.example, Other.example:8443' } }

  it('declares hosts at run time [guard.host]', async () => {
    expect(await statusOf({ host: 'mcp.example', platform })).toBe(200)
    expect(await statusOf({ host: 'other.example:8443', platform })).toBe(200)
    expect(await statusOf({ host: 'evil.example', platform })).toBe(403)
  })

  it('yields to allowedHosts in the code [guard.host]', async () => {
    expect(await statusOf({ host: 'mcp.example', platform, http: { allowedHosts: ['code.example'] } })).toBe(
      403,
    )
  })

  it.each([undefined, '', 5])('%j declares none [guard.host]', async (hosts) => {
    expect(await statusOf({ host: 'evil.example', platform: { env: { MAYFLY_ALLOWED_HOSTS: hosts } } })).toBe(
      200,
    )
  })
})

describe('origins', () => {
  it.each(['https://app.example', 'http://localhost:5173', 'null'])(
    '%s to a public host → served: there is no cookie to abuse [guard.origin]',
    async (origin) => {
      expect(await statusOf({ origin })).toBe(200)
    },
  )

  it.each([
    ['https://app.example', 200],
    ['https://app.example:8443', 403],
    ['http://app.example', 403],
    ['https://evil.example', 403],
    ['https://app.example.evil.example', 403],
    ['null', 403],
    ['', 403],
  ])('%j with allowedOrigins → %i [guard.origin]', async (origin, status) => {
    expect(await statusOf({ origin, http: { allowedOrigins: ['https://app.example'] } })).toBe(status)
  })

  it('no Origin → served, as clients other than browsers send none [guard.origin]', async () => {
    expect(await statusOf({ http: { allowedOrigins: ['https://app.example'] } })).toBe(200)
  })

  it('"*" declares any [guard.origin]', async () => {
    const http = { allowedOrigins: ['*'] }
    expect(await statusOf({ origin: 'https://evil.example', http })).toBe(200)
    expect(await statusOf({ url: 'http://localhost:3000/', origin: 'https://evil.example', http })).toBe(200)
  })
})

describe('DNS rebinding', () => {
  const loopback = { platform: { loopback: true } }

  it.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST:3000', 'localhost'])(
    'a loopback listener serves %s [guard.rebinding]',
    async (host) => {
      expect(await statusOf({ host, ...loopback })).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '0.0.0.0',
    '192.168.0.7',
  ])('and %s → 403 [guard.rebinding]', async (host) => {
    expect(await statusOf({ host, ...loopback })).toBe(403)
  })

  it.each(['http://localhost:3000', 'http://localhost:5173', 'https://127.0.0.1', 'http://[::1]:8080'])(
    'the origin %s to a local host → served [guard.rebinding]',
    async (origin) => {
      expect(await statusOf({ url: 'http://localhost:3000/mcp', origin })).toBe(200)
    },
  )

  it.each([
    'https://evil.example',
    'http://localhost.evil.example',
    'null',
    'file://',
    'http://evil.example/localhost',
  ])('the origin %s to a local host → 403, loopback known or not [guard.rebinding]', async (origin) => {
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000']) {
      expect(await statusOf({ host, origin })).toBe(403)
      expect(await statusOf({ host, origin, ...loopback })).toBe(403)
    }
  })
})
