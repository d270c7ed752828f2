/** How a protected server tells a client where to log in (RFC 9728), and how it treats an invalid token. */

import { calls } from './authorization-calls.ts'
import { authorizationServer } from './authorization-server.ts'
import { type Fetched, fetchDocument } from './document.ts'
import type { Endpoint } from './endpoint.ts'
import type { Answer } from './http.ts'
import { isJson } from './media-type.ts'
import type { JsonObject } from './messages.ts'
import { degrades, type Outcome, skipped, works, worst, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { cite, quote } from './safe-text.ts'
import { SPEC } from './spec.ts'

export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const challenge: Probe = {
  id: 'authorization.challenge',
  title: 'a request without a token',
  spec: `${SPEC.authorizationServers}#protected-resource-metadata-discovery-requirements`,
  async run(endpoint) {
    const { status, headers } = await askAnonymously(endpoint)
    if (status !== 401) return open(endpoint, status)
    const header = headers.get('www-authenticate')
    const { documents } = await findMetadata(endpoint)
    const fix = `send WWW-Authenticate: Bearer resource_metadata="${pathInserted(endpoint.url)}" with the 401`
    if (header === null)
      return documents.length > 0
        ? degrades('401 without WWW-Authenticate; the metadata is at its well-known URL', fix)
        : wrong('401 without WWW-Authenticate: clients cannot tell how to log in', fix)
    if (!/^bearer\b|,\s*bearer\b/i.test(header))
      return wrong(`401 with WWW-Authenticate: ${quote(header)}, which is not Bearer`, fix)
    const named = metadataUrl(header)
    if (named !== undefined)
      return URL.canParse(named)
        ? works('401 with the metadata URL')
        : wrong(`401 with resource_metadata=${quote(named)}, which is not a URL`, fix)
    return documents.length > 0
      ? works('401; the metadata is at its well-known URL')
      : degrades(
          '401 without resource_metadata or metadata at the well-known URL: clients need a token that they got in another way',
          fix,
        )
  },
}

const badToken: Probe = {
  id: 'authorization.invalid-token',
  title: 'an invalid token is 401',
  spec: `${SPEC.authorization}#token-handling`,
  async run(endpoint) {
    const anonymous = await askAnonymously(endpoint)
    if (anonymous.status !== 401) return skipped('no token is needed')
    const { status } = await askAnonymously(endpoint, { authorization: 'Bearer mayfly-check-no-such-token' })
    const fix = 'answer 401 to an invalid or expired token: clients renew it only then'
    if (status === 503) return skipped('503: the issuer did not answer')
    return status === 401 ? works('401') : wrong(`HTTP ${status}`, fix)
  },
}

const given: Probe = {
  id: 'authorization.token',
  title: 'the given token is accepted',
  spec: `${SPEC.authorization}#access-token-usage`,
  async run(endpoint) {
    const { wire, contact } = endpoint
    if (wire.options.bearer === undefined) return skipped('no --bearer')
    if (contact.isLocked)
      return wrong(
        '401 with the token',
        'pass a token that is not expired and has this server as its audience',
      )
    const { status } = await askAnonymously(endpoint)
    return status === 401 ? works('taken') : skipped('answered without a token, too')
  },
}

const metadata: Probe = {
  id: 'authorization.metadata',
  title: 'protected resource metadata',
  spec: `${SPEC.rfc}/rfc9728#section-3`,
  async run(endpoint) {
    const { named, documents } = await findMetadata(endpoint)
    const fix = `serve the document at ${pathInserted(endpoint.url)}`
    if (named?.fetched.kind === 'refused')
      return wrong(`${quote(named.url.href)}, from the challenge, is not fetched, ${named.fetched.why}`, fix)
    if (named?.fetched.kind === 'none')
      return wrong(`nothing at ${quote(named.url.href)}, from the challenge`, fix)
    const [first, ...others] = documents.map((document) => judgeDocument(document, endpoint.url))
    return first === undefined ? skipped('none') : worst([first, ...others])
  },
}

const servers: Probe = {
  id: 'authorization.servers',
  title: 'authorization server metadata',
  spec: `${SPEC.authorizationServers}#authorization-server-metadata-discovery`,
  async run(endpoint) {
    const { documents } = await findMetadata(endpoint)
    const issuers = new Set(documents.flatMap(({ document }) => issuersIn(document)))
    if (issuers.size === 0) return skipped('none is named')
    const outcomes: Outcome[] = []
    for (const issuer of [...issuers].slice(0, 3)) outcomes.push(await authorizationServer(endpoint, issuer))
    const [first, ...others] = outcomes
    const outcome = worst([first!, ...others])
    const left = issuers.size - outcomes.length
    return left === 0 ? outcome : { ...outcome, detail: `${outcome.detail}; ${left} more were not checked` }
  },
}

interface Found {
  readonly url: URL
  readonly kind: 'named' | 'path' | 'root'
  readonly answer: Answer
  readonly document: JsonObject
}

interface Metadata {
  /** As in the challenge. */
  readonly named?: { readonly url: URL; readonly fetched: Fetched }
  readonly documents: readonly Found[]
}

/** Runs once for all probes. */
const looking = new WeakMap<Endpoint, Promise<Metadata>>()

function findMetadata(endpoint: Endpoint): Promise<Metadata> {
  const known = looking.get(endpoint) ?? lookForMetadata(endpoint)
  looking.set(endpoint, known)
  return known
}

/** The documents that clients read. The one at the root is used only if there is no other, since it may be for another resource. */
async function lookForMetadata(endpoint: Endpoint): Promise<Metadata> {
  const { url, wire } = endpoint
  const named = await challengeUrl(endpoint)
  const places: [URL, Found['kind']][] = [
    ...(named === undefined ? [] : [[named, 'named'] satisfies [URL, 'named']]),
    [new URL(pathInserted(url)), 'path'],
    [new URL(WELL_KNOWN, url), 'root'],
  ]
  const distinct = new Map(places.toReversed().map(([place, kind]) => [place.href, { place, kind }]))
  const looked = await Promise.all(
    [...distinct.values()].map(async ({ place, kind }) => ({
      url: place,
      kind,
      fetched: await fetchDocument(wire, place),
    })),
  )
  const found = looked.flatMap(({ url: place, kind, fetched }) =>
    fetched.kind === 'document' ? [{ ...fetched, url: place, kind }] : [],
  )
  const closer = found.filter(({ kind }) => kind !== 'root')
  const challenged = looked.find(({ url: place }) => place.href === named?.href)
  return { ...(challenged && { named: challenged }), documents: closer.length > 0 ? closer : found }
}

function judgeDocument({ url, kind, answer, document }: Found, endpoint: URL): Outcome {
  const { resource, authorization_servers: servers } = document
  const place = cite(url.pathname)
  const fix = `set "resource" to ${endpoint.origin}${endpoint.pathname}, as clients write it`
  if (typeof resource !== 'string') return wrong(`${place}: "resource" is missing`, fix)
  const match = compare(resource, endpoint)
  if (match === 'foreign' || (match === 'parent' && kind === 'path'))
    return wrong(`${place}: "resource" is ${quote(resource)}, so clients refuse the document`, fix)
  if (servers !== undefined && !isListOfText(servers))
    return wrong(
      `${place}: "authorization_servers" is not an array of strings`,
      'list the issuer URLs of the authorization servers; omit the member if there are none',
    )
  if (!isJson(answer.headers))
    return degrades(`${place}: the content type is not application/json`, 'send it as application/json')
  if (match === 'parent')
    return degrades(`${place}: "resource" is ${quote(resource)}, of which this endpoint is a part`, fix)
  // Optional (RFC 9728 §2). Without it, clients cannot log in and need a token that was issued beforehand.
  return works(
    issuersIn(document).length > 0
      ? quote(resource)
      : `${quote(resource)}; no authorization server is listed: clients need a token from elsewhere`,
  )
}

/** RFC 9728 §3.3 requires the exact URL; official clients also accept a trailing slash or a parent path. */
function compare(resource: string, endpoint: URL): 'same' | 'parent' | 'foreign' {
  if (!URL.canParse(resource)) return 'foreign'
  const { origin, pathname } = new URL(resource)
  const trimmed = pathname.replace(/\/$/, '')
  if (origin !== endpoint.origin) return 'foreign'
  if (trimmed === endpoint.pathname.replace(/\/$/, '')) return 'same'
  return `${endpoint.pathname}/`.startsWith(`${trimmed}/`) ? 'parent' : 'foreign'
}

function issuersIn({ authorization_servers: servers }: JsonObject): string[] {
  return isListOfText(servers) ? servers : []
}

export function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function open({ wire }: Endpoint, status: number): Outcome {
  const fix = 'answer 401 with WWW-Authenticate: Bearer to a request without a token'
  if (status === 403) return wrong('HTTP 403: clients log in only on 401', fix)
  if (status >= 500) return wrong(`HTTP ${status}`, fix)
  if (status >= 400) return skipped(`HTTP ${status}`)
  return wire.options.bearer === undefined
    ? works('open: no token is needed for this')
    : degrades('answered, though --bearer is given', 'check that the server is meant to be open')
}

async function challengeUrl(endpoint: Endpoint): Promise<URL | undefined> {
  const { status, headers } = await askAnonymously(endpoint)
  const url = status === 401 ? metadataUrl(headers.get('www-authenticate') ?? '') : undefined
  return url !== undefined && URL.canParse(url) ? new URL(url) : undefined
}

/** The unparsed `resource_metadata` of a challenge (RFC 9728 §5.1). */
export function metadataUrl(header: string): string | undefined {
  const match = /\bresource_metadata\s*=\s*(?:"([^"]*)"|([^\s,]+))/i.exec(header)
  return match?.[1] ?? match?.[2]
}

function askAnonymously(endpoint: Endpoint, more: { readonly [name: string]: string } = {}): Promise<Answer> {
  const { body, headers } = endpoint.greeting()
  return endpoint.wire.send({
    label: 'a request without a valid token',
    body,
    headers: { ...headers, ...more },
    credentials: 'none',
    statuses: 'any',
    isEnough: () => true,
  })
}

/** The URL of the metadata of a resource (RFC 9728 §3.1). */
export function pathInserted({ origin, pathname }: URL): string {
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`
}

export const authorization: Topic = {
  title: 'Authorization',
  runs: 'together',
  probes: [challenge, badToken, given, calls, metadata, servers],
}
