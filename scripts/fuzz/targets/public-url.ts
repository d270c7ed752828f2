/** The URL that a server says it has, and which hosts and origins it serves: `[path, forwarded host, proto, prefix, for, Host, Origin, platform's prefix]`. */
import { isDeepStrictEqual } from 'node:util'
import { callerAddress } from '../../../src/http/forwarded.ts'
import { refusedHeader } from '../../../src/http/host-and-origin.ts'
import { renderPage } from '../../../src/http/page.ts'
import { preflightResponse } from '../../../src/http/preflight.ts'
import { describedResource, publicEndpoint, resourceLocation } from '../../../src/http/public-url.ts'
import { checkUrl } from '../answer.ts'
import { mutateText } from '../mutate.ts'
import { promise, type Target } from '../target.ts'

const FORWARDED = ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-prefix', 'x-forwarded-for']
const OTHERS = ['host', 'origin']
const PREFIXES = ['', '/functions/v1/shop', '/prod']
const PUBLIC = 'https://shop.example/base/mcp'

function headersOf(values: readonly string[], names: readonly string[]): Headers {
  const headers = new Headers()
  names.forEach((name, index) => {
    try {
      if (values[index] !== '') headers.set(name, values[index]!)
    } catch {
      // no header value
    }
  })
  return headers
}

/** All that is derived from one request. */
function derive(url: string, headers: Headers, prefix: string, trustProxy: boolean, publicUrl?: string) {
  const request = new Request(url, { headers })
  const options = { trustProxy, publicUrl, allowedHosts: undefined }
  const platform = { prefix, clientAddress: '192.0.2.1' }
  const guard = { allowedOrigins: undefined, trustProxy, publicUrl: undefined }
  const addressed = { request, sent: headers, origin: headers.get('origin') }
  return {
    endpoint: publicEndpoint(request, platform, options),
    ...resourceLocation(request, platform, options),
    described: describedResource(request, platform, options),
    address: callerAddress(headers, platform, trustProxy),
    isAllowed: [true, false].map(
      (loopback) => refusedHeader({ ...addressed, platform: { loopback } }, undefined, guard) === undefined,
    ),
  }
}

function run(input: readonly string[]): string {
  const [path, ...rest] = input
  const url = `https://mcp.example${path}`
  if (!URL.canParse(url) || new URL(url).host !== 'mcp.example') return 'no URL of ours'
  const prefix = rest[6]!
  const plain = headersOf(rest.slice(4, 6), OTHERS)
  const forwarded = headersOf(rest.slice(0, 6), [...FORWARDED, ...OTHERS])
  promise(
    isDeepStrictEqual(derive(url, plain, prefix, false), derive(url, forwarded, prefix, false)),
    'forwarded headers are believed though no proxy is trusted',
  )
  for (const [headers, trustProxy, publicUrl] of [
    [plain, false, undefined],
    [forwarded, true, undefined],
    [forwarded, true, PUBLIC],
  ] as const) {
    const { endpoint, resource, isVouchedFor, metadataUrl, described, address } = derive(
      url,
      headers,
      prefix,
      trustProxy,
      publicUrl,
    )
    for (const shown of [endpoint, resource, metadataUrl, described?.resource, described?.metadataUrl])
      if (shown !== undefined) checkUrl(shown)
    promise(/^[\da-f:]+$|^(?:\d{1,3}\.){3}\d{1,3}$/.test(address ?? ''), `the caller's address is ${address}`)
    promise(isVouchedFor === (publicUrl !== undefined), `${resource} is vouched for by its caller`)
    if (!trustProxy) promise(new URL(resource).origin === 'https://mcp.example', `the origin is ${resource}`)
    if (publicUrl !== undefined) promise(resource === publicUrl, `the resource is ${resource}`)
    checkPage(endpoint)
  }
  const asked = new Request(url, { headers: headersOf([rest[2]!], ['access-control-request-headers']) })
  const allowed = preflightResponse(asked, 'POST').headers['access-control-allow-headers']!
  promise(/^[!#$%&'*+.^_`|~0-9a-z, -]+$/.test(allowed), `allowed headers: ${allowed}`)
  const { endpoint, described, isAllowed: allowances } = derive(url, forwarded, prefix, true)
  return `${new URL(endpoint).origin === new URL(url).origin} ${described === undefined} ${allowances}`
}

/** The path of a request is shown on a page, and must not become a part of it. */
function checkPage(endpoint: string): void {
  const page = renderPage({
    name: 'x',
    version: '1',
    endpoint,
    tools: [],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    protocolVersions: [],
  })
  const text = String(page)
  promise(
    !/<(?:script|img|svg|iframe)[^>]*(?:alert|onerror|onload)/i.test(text),
    'the page holds markup of a request',
  )
}

const SEEDS: readonly (readonly string[])[] = [
  ['/mcp', '', '', '', '', 'mcp.example', '', ''],
  [
    '/',
    'shop.example',
    'https',
    '/shop',
    '1.2.3.4, [2001:db8::1]:4711',
    'mcp.example',
    'https://app.example',
    '',
  ],
  [
    '/functions/v1/shop/mcp',
    'a, b.example:8443',
    'HTTP',
    '/a/b/',
    '',
    'localhost:3000',
    'http://localhost:1',
    PREFIXES[1]!,
  ],
  [
    '/.well-known/oauth-protected-resource/base/mcp',
    '[::1]:80',
    'javascript',
    '//x',
    '',
    '127.0.0.1',
    'null',
    '/prod',
  ],
  ['/.well-known/oauth-protected-resource', '999.1.1.1', 'http', '/..', '', '', 'http://[::1]', ''],
  ['//evil.example/mcp/', 'host:99999', 'http', '/a/../b', '', 'evil', '', ''],
]

export const publicUrl: Target = {
  name: 'public-url',
  seeds: SEEDS,
  generate: (random) => SEEDS[0]!.map((_, index) => random.pick(SEEDS)[index]!),
  mutate: (input, other, random) => {
    const at = random.int(input.length)
    if (at === 7) return input.with(at, random.pick(PREFIXES))
    return input.with(
      at,
      random.chance(0.2) ? other[at]! : mutateText(input[at]!, other[at]!, random).slice(0, 300),
    )
  },
  run,
}
