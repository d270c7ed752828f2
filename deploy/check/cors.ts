/** Whether a client in a browser can use the server (Fetch standard). Other clients are not affected. */
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './http.ts'
import { degrades, Stop, skipped, works, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { cite } from './safe-text.ts'
import { SPEC } from './spec.ts'

const PREFLIGHT = `${SPEC.fetch}/#cors-preflight-fetch`
const PROTOCOL = `${SPEC.fetch}/#http-cors-protocol`

/** An origin unknown to every server. */
export const FOREIGN_PAGE = 'https://mayfly-check.example'

/** Headers of clients that a browser sends only with permission. */
const NEEDED_HEADERS = [
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'authorization',
  'content-type',
]

const allowed: Probe = {
  id: 'cors.preflight',
  title: 'a preflight is answered',
  spec: PREFLIGHT,
  async run(endpoint) {
    const { status, headers } = await preflight(endpoint)
    const fix = 'answer OPTIONS with 204 and the Access-Control-Allow-* headers, before any authentication'
    if (status === 401 || (status === 403 && headers.has('www-authenticate')))
      return wrong(`HTTP ${status}: browsers send no credentials with a preflight`, fix)
    if (status >= 500) return wrong(`HTTP ${status}`, fix)
    const origin = headers.get('access-control-allow-origin')
    if (origin === null)
      return degrades(`HTTP ${status} without CORS headers: clients in browsers cannot connect`, fix)
    if (status < 200 || status > 299) return wrong(`HTTP ${status}: browsers require a 2xx`, fix)
    if (!matches(origin, endpoint.origin))
      return degrades(
        `only ${cite(origin)} is allowed, not ${endpoint.origin}`,
        'pass --origin with your page, or allow it',
      )
    return works(`HTTP ${status}, ${cite(origin)}`)
  },
}

const requestHeaders: Probe = {
  id: 'cors.headers',
  title: 'the MCP headers may be sent',
  spec: PREFLIGHT,
  async run(endpoint) {
    const headers = await corsHeaders(endpoint)
    const listed = namesIn(headers, 'access-control-allow-headers')
    // The wildcard does not cover `Authorization`, and has no effect if credentials are allowed.
    const isAny = listed.includes('*') && !headers.has('access-control-allow-credentials')
    const missing = NEEDED_HEADERS.filter(
      (name) => !listed.includes(name) && !(isAny && name !== 'authorization'),
    )
    if (missing.length === 0) return works(isAny ? '* and authorization' : 'all of them')
    const fix = `add ${missing.join(', ')} to Access-Control-Allow-Headers`
    // A server without sessions is never sent one.
    const isMinor = missing.every((name) => isUnused(endpoint, name))
    return isMinor
      ? degrades(`not allowed: ${missing.join(', ')}`, fix)
      : wrong(`not allowed: ${missing.join(', ')}`, fix)
  },
}

const methods: Probe = {
  id: 'cors.methods',
  title: 'POST may be sent',
  spec: PREFLIGHT,
  async run(endpoint) {
    const listed = namesIn(await corsHeaders(endpoint), 'access-control-allow-methods')
    // POST is a method that needs no permission.
    return works(listed.length === 0 ? 'POST needs no permission' : cite(listed.join(', ').toUpperCase()))
  },
}

const answers: Probe = {
  id: 'cors.answer',
  title: 'answers may be read by a page',
  spec: PROTOCOL,
  async run(endpoint) {
    await corsHeaders(endpoint)
    const { status, headers } = await ask(endpoint)
    const origin = headers.get('access-control-allow-origin')
    const fix = 'send Access-Control-Allow-Origin with every answer, errors and 401 included'
    if (origin === null)
      return wrong(`HTTP ${status} without Access-Control-Allow-Origin, though the preflight has it`, fix)
    if (!matches(origin, endpoint.origin)) return wrong(`only ${cite(origin)} may read it`, fix)
    if (origin === '*' && headers.get('access-control-allow-credentials') === 'true')
      return wrong(
        '* together with credentials, which browsers refuse',
        'drop Access-Control-Allow-Credentials: MCP uses bearer tokens',
      )
    if (origin === FOREIGN_PAGE && headers.get('access-control-allow-credentials') === 'true')
      return degrades(
        'any page can send its visitors’ cookies and read the answer',
        'drop Access-Control-Allow-Credentials: MCP uses bearer tokens',
      )
    if (origin === endpoint.origin && !/\borigin\b/i.test(headers.get('vary') ?? ''))
      return degrades(
        'the origin is echoed without Vary: Origin',
        'add Vary: Origin, or caches mix up pages; or allow *',
      )
    return works(cite(origin))
  },
}

const exposed: Probe = {
  id: 'cors.exposed',
  title: 'a page may read the headers that it needs',
  spec: PROTOCOL,
  async run(endpoint) {
    await corsHeaders(endpoint)
    const { headers } = await ask(endpoint)
    const listed = namesIn(headers, 'access-control-expose-headers')
    const needed = [
      ...(endpoint.contact.session?.id === undefined ? [] : ['mcp-session-id']),
      ...(endpoint.contact.isLocked || endpoint.wire.options.bearer !== undefined
        ? ['www-authenticate']
        : []),
    ]
    const missing = needed.filter((name) => !listed.includes(name) && !listed.includes('*'))
    if (missing.length === 0) return works(listed.length === 0 ? 'none are needed' : cite(listed.join(', ')))
    const fix = `add ${missing.join(', ')} to Access-Control-Expose-Headers`
    return missing.includes('mcp-session-id')
      ? wrong('a page cannot read mcp-session-id, and loses its session', fix)
      : degrades('a page cannot read www-authenticate, and must guess where to log in', fix)
  },
}

/** The preflight that a browser sends before a page's POST, without credentials. */
function preflight(endpoint: Endpoint): Promise<Answer> {
  return endpoint.request(
    'OPTIONS',
    {
      origin: endpoint.origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': NEEDED_HEADERS.toSorted().join(','),
    },
    { credentials: 'none', statuses: 'any' },
  )
}

/** Throws `Stop` without any CORS headers, which another probe reports. */
async function corsHeaders(endpoint: Endpoint): Promise<Headers> {
  const { headers } = await preflight(endpoint)
  if (headers.has('access-control-allow-origin')) return headers
  throw new Stop(skipped('no CORS'))
}

/** A page's POST; the page must be able to read a 401, too. */
async function ask(endpoint: Endpoint): Promise<Answer> {
  const { body, headers } = endpoint.contact.isLocked ? endpoint.greeting() : endpoint.little()
  return endpoint.wire.send({
    label: 'a POST of a page',
    body,
    headers: { ...headers, origin: endpoint.origin },
    isEnough: () => true,
    statuses: 'any',
  })
}

function matches(allowedOrigin: string, origin: string): boolean {
  return allowedOrigin === '*' || allowedOrigin === origin
}

function isUnused({ contact }: Endpoint, name: string): boolean {
  if (name === 'mcp-session-id') return contact.session?.id === undefined
  if (name === 'mcp-method' || name === 'mcp-name') return !contact.isModern && !contact.isLocked
  return name === 'authorization' && !contact.isLocked
}

function namesIn(headers: Headers, name: string): string[] {
  const listed = (headers.get(name) ?? '').toLowerCase().split(',')
  return listed.map((part) => part.trim()).filter((part) => part !== '')
}

export const cors: Topic = {
  title: 'Browsers (CORS)',
  runs: 'together',
  probes: [allowed, requestHeaders, methods, answers, exposed],
}
