/** An MCP server under a path of something else: the examples of examples/mount, each asked by an official client. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import proxied from '../../../examples/mount/behind-a-proxy.ts'
import app from '../../../examples/mount/hono.ts'
import { DELETE, GET, OPTIONS, POST } from '../../../examples/mount/nextjs/app/api/[...mcp]/route.ts'
import { server } from '../../../examples/mount/server.ts'
import { fallback } from '../../../examples/mount/sveltekit/src/routes/api/[...mcp]/+server.ts'

type Handle = (request: Request) => Response | Promise<Response>

/** Next.js calls the export named as the method. */
const NEXT_EXPORTS = new Map([
  ['DELETE', DELETE],
  ['GET', GET],
  ['OPTIONS', OPTIONS],
  ['POST', POST],
])

function nextjs(request: Request): Promise<Response> {
  return NEXT_EXPORTS.get(request.method)!(request)
}

const MOUNTS: readonly { readonly at: string; readonly endpoint: string; readonly handle: Handle }[] = [
  { at: 'a Hono route', endpoint: 'https://shop.example/api/mcp', handle: (request) => app.fetch(request) },
  {
    at: 'Hono mount',
    endpoint: 'https://shop.example/partners/mcp',
    handle: (request) => app.fetch(request),
  },
  { at: 'a Next.js route', endpoint: 'https://shop.example/api/mcp', handle: nextjs },
  {
    at: 'a SvelteKit route',
    endpoint: 'https://shop.example/api/mcp',
    handle: (request) => fallback({ request }),
  },
  { at: 'a prefix of the platform', endpoint: 'https://x.example/functions/v1/tools', handle: server.fetch },
]

/** The official client, over `handle` in place of the network. */
async function connect(endpoint: string, handle: Handle): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const fetch = async (url: string | URL, init?: RequestInit) => handle(new Request(url, init))
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { fetch }))
  return client
}

const browser = { headers: { accept: 'text/html' } }

describe.each(MOUNTS)('at $at', ({ endpoint, handle }) => {
  it('a client calls a tool [http.any-path]', async () => {
    const client = await connect(endpoint, handle)

    const { content } = await client.callTool({ name: 'greet', arguments: { name: 'Ephemera' } })

    expect(content).toEqual([{ type: 'text', text: 'Hello, Ephemera!' }])
    await client.close()
  })

  it('the page shows the URL clients connect to', async () => {
    const response = await handle(new Request(endpoint, browser))

    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`claude mcp add --transport http mounted ${endpoint}`)
  })

  it('the health check is below it [page.health]', async () => {
    const response = await handle(new Request(`${endpoint}/healthz`))

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ status: 'ok' })
  })

  it('a preflight is answered', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }

    const response = await handle(new Request(endpoint, { method: 'OPTIONS', headers }))

    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('DELETE → 405 that says what is allowed', async () => {
    const response = await handle(new Request(endpoint, { method: 'DELETE' }))

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toContain('POST')
  })
})

it('the rest of the Hono app stays what it is', async () => {
  const response = await app.request('https://shop.example/', browser)

  expect(await response.text()).toBe('The rest of the app.')
})

it('the page of a mounted server links nowhere but below its own endpoint', async () => {
  const page = await (await app.request('https://shop.example/api/mcp', browser)).text()

  const targets = Array.from(page.matchAll(/(?:href|src|action)="([^"]*)"/g), ([, target]) => target!)
  expect(targets.filter((target) => target.startsWith('/') || target.startsWith('.'))).toEqual([])
})

it('behind a proxy the page shows the public URL, whatever URL or forwarded header the request has', async () => {
  const headers = { accept: 'text/html', 'x-forwarded-host': 'evil.example' }

  const page = await (await proxied.fetch(new Request('http://10.0.0.7:8080/', { headers }))).text()

  expect(page).toContain('https://example.com/tools/mcp')
  expect(page).not.toContain('10.0.0.7')
  expect(page).not.toContain('evil.example')
})
