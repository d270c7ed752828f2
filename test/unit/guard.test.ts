import { describe, expect, it, vi } from 'vitest'
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

describe('the 403 for a Host', () => {
  const bodyOf = async (host: string, http: HttpConfig, headers: Record<string, string> = {}) => {
    const request = modernRequest('server/discover', {}, { headers: { host, ...headers } })
    return (await createServer({ http }).handle(request, { loopback: true })).text()
  }

  it('names it, and the options that allow it [guard.host]', async () => {
    const body = await bodyOf('shop.example', {})
    expect(body).toContain(
      'the Host shop.example. If it is yours, set http.allowedHosts, http.publicUrl or MAYFLY',
    )
  })

  it('names both behind a trusted proxy [guard.host]', async () => {
    const forwarded = { 'x-forwarded-host': 'shop.example' }
    expect(await bodyOf('upstream', { trustProxy: true }, forwarded)).toContain(
      'the Host upstream, forwarded as shop.example.',
    )
  })

  it.each(['a b', '<script>', 'x'.repeat(300)])(
    '%s, which is no host, is not repeated [guard.host]',
    async (host) => {
      expect(await bodyOf(host, { allowedHosts: ['mcp.example'] })).toContain('does not serve the Host.')
    },
  )
})

describe('allowedHosts', () => {
  const http = { allowedHosts: ['mcp.example', 'other.example:8443', 'UPPER.example'] }

  it.each([
    'mcp.example',
    'mcp.example:9000',
    'MCP.EXAMPLE',
    'mcp.example.',
    'mcp.example.:9000',
    'other.example:8443',
    'other.example.:8443',
    'upper.example',
  ])('%s → served [guard.host]', async (host) => {
    expect(await statusOf({ host, http })).toBe(200)
  })

  it.each([
    ['[::1]', '[0:0:0:0:0:0:0:1]:3000'],
    ['::1', '[::1]'],
    ['127.0.0.1', '0x7f.1'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['mcp.example.', 'mcp.example'],
  ])('%s declared, %s asked for → served: they are one host [guard.host]', async (declared, host) => {
    expect(await statusOf({ host, http: { allowedHosts: [declared] } })).toBe(200)
  })

  it.each(['', ':80', 'no host', 'mcp.example/x', 'x@mcp.example', 'mcp.example:http'])(
    '%j, which is no host, is not one of them, whatever else is declared [guard.host]',
    async (host) => {
      const url = 'https://evil.example/mcp'
      expect(await statusOf({ url, host, http })).toBe(403)
      const env = { MAYFLY_ALLOWED_HOSTS: [...http.allowedHosts, '', ' '].join() }
      expect(await statusOf({ url, host, platform: { env } })).toBe(403)
    },
  )

  it('none of none → 403 [guard.host]', async () => {
    expect(await statusOf({ host: 'mcp.example', http: { allowedHosts: [] } })).toBe(403)
  })

  it.each([
    'evil.example',
    'mcp.example.evil.example',
    'xmcp.example',
    'other.example',
    'other.example:8444',
    'other.example:844',
    'other.example.evil.example:8443',
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

  it.each([
    ['https://mcp.example', 'mcp.example'],
    ['https://mcp.example/mcp', 'mcp.example'],
    ['http://mcp.example:8080/', 'mcp.example:8080'],
    ['mcp.example/mcp', 'mcp.example'],
    ['mcp.example:443', 'mcp.example'],
  ])('%s serves %s [guard.host]', async (hosts, host) => {
    const written = { env: { MAYFLY_ALLOWED_HOSTS: hosts } }
    expect(await statusOf({ host, platform: written })).toBe(200)
    expect(await statusOf({ host: 'evil.example', platform: written })).toBe(403)
  })

  it.each(['*.example', 'https://', 'a b', 'ftp://mcp.example'])(
    '%s, which no request can match → the log says so, once [guard.host]',
    async (entry) => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      const written = { env: { MAYFLY_ALLOWED_HOSTS: `mcp.example,${entry}` } }
      for (const host of ['mcp.example', 'mcp.example']) await statusOf({ host, platform: written })
      expect(await statusOf({ host: 'evil.example', platform: written })).toBe(403)
      const lines = warn.mock.calls.flat().filter((line) => String(line).includes('MAYFLY_ALLOWED_HOSTS'))
      warn.mockRestore()
      expect(lines).toEqual([expect.stringContaining('which no request can match')])
    },
  )

  it('is read once from the same variables, and again from others [guard.host]', async () => {
    const server = createServer({})
    let reads = 0
    const variables = (hosts: string) => ({
      get MAYFLY_ALLOWED_HOSTS() {
        reads++
        return hosts
      },
    })
    const statusIn = async (env: object) => {
      const headers = { host: 'mcp.example' }
      return (await server.handle(modernRequest('server/discover', {}, { headers }), { env })).status
    }
    const [one, other] = [variables('mcp.example'), variables('other.example')]

    expect([await statusIn(one), await statusIn(one), reads]).toEqual([200, 200, 1])
    expect([await statusIn(other), await statusIn({}), await statusIn(one)]).toEqual([403, 200, 200])
  })

  it('yields to allowedHosts in the code [guard.host]', async () => {
    expect(await statusOf({ host: 'mcp.example', platform, http: { allowedHosts: ['code.example'] } })).toBe(
      403,
    )
  })

  it.each([' mcp.example ', 'mcp.example,', ',mcp.example', ' ,\tMCP.example\t, '])(
    '%j declares one, and no empty one [guard.host]',
    async (hosts) => {
      const platform = { env: { MAYFLY_ALLOWED_HOSTS: hosts } }
      expect(await statusOf({ host: 'mcp.example', platform })).toBe(200)
      for (const host of ['evil.example', ':80']) expect(await statusOf({ host, platform })).toBe(403)
    },
  )

  it.each([' ', ',', ' , '])('%j declares that no host is served [guard.host]', async (hosts) => {
    expect(await statusOf({ host: 'mcp.example', platform: { env: { MAYFLY_ALLOWED_HOSTS: hosts } } })).toBe(
      403,
    )
  })

  it.each([undefined, '', 5])('%j declares none [guard.host]', async (hosts) => {
    expect(await statusOf({ host: 'evil.example', platform: { env: { MAYFLY_ALLOWED_HOSTS: hosts } } })).toBe(
      200,
    )
  })
})

describe('over a loopback connection, behind a trusted proxy', () => {
  const platform = { loopback: true }
  const SHOP = 'https://shop.example/mcp'
  const behind = async (http: HttpConfig, host: string, forwarded: string) => {
    const headers = { host, 'x-forwarded-host': forwarded }
    const request = modernRequest('server/discover', {}, { url: 'http://127.0.0.1/mcp', headers })
    return (await createServer({ http: { trustProxy: true, ...http } }).handle(request, platform)).status
  }

  it.each<[HttpConfig, string]>([
    [{}, 'localhost'],
    [{ publicUrl: SHOP }, 'localhost'],
    [{ publicUrl: SHOP }, 'shop.example'],
    [{ allowedHosts: ['shop.example'] }, 'shop.example'],
  ])('%j: a page of a rebound name that forwards %s → 403 [guard.host]', async (http, forwarded) => {
    expect(await behind(http, 'evil.example:3000', forwarded)).toBe(403)
  })

  it.each<[HttpConfig, string]>([
    [{ publicUrl: SHOP }, '127.0.0.1:3000'],
    [{ publicUrl: SHOP }, 'shop.example'],
    [{ allowedHosts: ['shop.example'] }, 'localhost'],
    [{ allowedHosts: ['shop.example'] }, 'shop.example'],
    [{ allowedHosts: ['shop.example', 'backend'] }, 'backend'],
  ])('%j: a proxy that sends Host %s → served [guard.host]', async (http, host) => {
    expect(await behind(http, host, 'shop.example')).toBe(200)
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

describe('origins of a private host', () => {
  const PRIVATE = [
    '10.0.0.7:3000',
    '172.16.0.1',
    '192.168.0.7:3000',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0:3000',
    '[fd00::7]:3000',
    '[fe80::1]',
    'printer.local:3000',
    'mcp.internal',
    'app.localhost:3000',
    'nas.lan',
    'router.home.arpa',
    'MCP:3000',
    'mcp',
    'no host',
  ]

  it.each(PRIVATE)('of a website to %s → 403, and nothing that it may read [guard.private]', async (host) => {
    for (const origin of [
      'https://evil.example',
      'http://192.168.0.8',
      'http://localhost.evil.example',
      'null',
      '',
    ]) {
      const headers = { host, origin }
      const server = createServer({})
      const response = await server.fetch(modernRequest('server/discover', {}, { headers }))
      expect([origin, response.status]).toEqual([origin, 403])
      expect(response.headers.has('access-control-allow-origin')).toBe(false)
      const preflight = await server.fetch(
        new Request('https://mcp.example/mcp', { method: 'OPTIONS', headers }),
      )
      expect(preflight.status).toBe(403)
      expect(preflight.headers.has('access-control-allow-origin')).toBe(false)
    }
  })

  it.each(PRIVATE)('of this machine, or none, to %s → served [guard.private]', async (host) => {
    for (const origin of [undefined, 'http://localhost:5173', 'http://127.0.0.1', 'https://[::1]:8443'])
      expect([origin, await statusOf({ host, ...(origin && { origin }) })]).toEqual([origin, 200])
  })

  it.each([
    ['192.168.0.7:3000', 'http://192.168.0.7:8080', 200],
    ['nas.lan:3000', 'https://nas.lan', 200],
    ['nas.lan:3000', 'https://NAS.lan', 200],
    ['nas.lan.', 'http://nas.lan:80', 200],
    ['nas.lan', 'http://nas.lan.evil.example', 403],
    ['nas.lan', 'http://other.lan', 403],
    ['nas.lan', 'http://nas.lan/', 403],
    ['nas.lan', 'chrome-extension://nas.lan', 403],
    ['nas.lan', 'http://nas.lan@evil.example', 403],
    ['nas.lan', 'xhttp://nas.lan', 403],
    ['no host', 'http://no host', 403],
  ])(
    'to %s from %s → %i: a page of the same host, on any port [guard.private]',
    async (host, origin, status) => {
      expect(await statusOf({ host, origin })).toBe(status)
    },
  )

  it('declared → served, and those alone [guard.private]', async () => {
    const http = { allowedOrigins: ['https://app.example'] }
    expect(await statusOf({ host: 'nas.lan', origin: 'https://app.example', http })).toBe(200)
    expect(await statusOf({ host: 'nas.lan', origin: 'https://nas.lan', http })).toBe(403)
  })

  it('a private host that is declared is still private [guard.private]', async () => {
    const http = { allowedHosts: ['nas.lan'] }
    expect(await statusOf({ host: 'nas.lan', origin: 'https://evil.example', http })).toBe(403)
    expect(await statusOf({ host: 'nas.lan', origin: 'https://nas.lan', http })).toBe(200)
  })

  it('behind a proxy of one’s own the forwarded host counts [guard.private]', async () => {
    const statusBehind = async (trustProxy: boolean) => {
      const headers = { host: 'mcp:3000', origin: 'https://app.example', 'x-forwarded-host': 'shop.example' }
      const server = createServer({ http: { trustProxy } })
      return (await server.fetch(modernRequest('server/discover', {}, { headers }))).status
    }
    expect([await statusBehind(true), await statusBehind(false)]).toEqual([200, 403])
  })
})

describe('DNS rebinding', () => {
  const loopback = { platform: { loopback: true } }

  it.each([
    'localhost:3000',
    '127.0.0.1:3000',
    '[::1]:3000',
    'LOCALHOST:3000',
    'localhost',
    'localhost.',
    '127.0.0.2',
    '0x7f000001',
    '[0:0:0:0:0:0:0:1]:3000',
    '[::ffff:127.0.0.1]',
  ])('a loopback listener serves %s [guard.rebinding]', async (host) => {
    expect(await statusOf({ host, ...loopback })).toBe(200)
  })

  it('hosts that are declared are served by a loopback listener, too: a proxy is in front [guard.rebinding]', async () => {
    const http = { allowedHosts: ['mcp.example'] }
    expect(await statusOf({ host: 'mcp.example', http, ...loopback })).toBe(200)
    expect(await statusOf({ host: 'localhost', http, ...loopback })).toBe(403)
  })

  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '0.0.0.0',
    '192.168.0.7',
    'app.localhost',
    'nas.lan',
    '127.0.0.1@evil.example',
    'localhost/evil.example',
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
    for (const host of [
      'localhost:3000',
      '127.0.0.1:3000',
      '[::1]:3000',
      'LOCALHOST',
      'localhost.',
      '127.0.0.2',
      '0:0:0:0:0:0:0:1',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0177.1',
    ]) {
      expect(await statusOf({ host, origin })).toBe(403)
      expect(await statusOf({ host, origin, ...loopback })).toBe(403)
    }
  })
})
