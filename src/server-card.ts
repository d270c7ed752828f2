/**
 * The documents by which clients discover a server before they connect: its server card, and its domain's catalog. Both are experimental in
 * MCP and may change: https://github.com/modelcontextprotocol/experimental-ext-server-card
 */

import { toBase64Url } from './definition/base64.ts'
import { sha256 } from './definition/digest.ts'
import { present } from './definition/present.ts'
import { type Names, refuseUnknown } from './definition/unknown-option.ts'
import { isMCPServer, type MountedServer, mounted, serverWithin } from './http/mounted.ts'
import { publicUrlOf } from './http/public-url.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from './protocol/versions.ts'
import type { RequestPlatform } from './request/platform.ts'
import type { MCPServer } from './server.ts'

/** Options of `withServerCard`. */
export interface ServerCardOptions {
  /** The public URL of the MCP endpoint: `https://shop.example/mcp`. It is never taken from a request, whose sender could choose it. */
  readonly url: string
  /** `<domain, reversed>/<name>`, as in the MCP registry. Default: the host of `url` reversed, and the server's id: `example.shop/shop`. */
  readonly name?: string
  /** At most 100 characters. Default: the server's. */
  readonly description?: string
}

const OPTIONS: Names<ServerCardOptions> = { url: 'string', name: 'string', description: 'string' }

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const CARD = { suffix: '/server-card', type: 'application/mcp-server-card+json' }
const CATALOG = { path: '/.well-known/ai-catalog.json', type: 'application/ai-catalog+json' }
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/
/** In code points, as JSON Schema counts. */
const MAX_TEXT = 100

const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
  'x-content-type-options': 'nosniff',
}

interface Document {
  readonly type: string
  readonly text: string
  readonly etag: string
}

/**
 * A server with its server card at `<endpoint>/server-card` and a catalog that lists it at `/.well-known/ai-catalog.json`. Export it
 * instead of the server. Both documents are public, even if the server requires a token, and do not list tools.
 *
 * ```ts
 * export default withServerCard(server, { url: 'https://shop.example/mcp' })
 * ```
 *
 * @param served An `MCPServer`, or the result of `createSessions(server)` or of a task endpoint's `mount`.
 * @throws TypeError for an invalid `url`, name or description, and for an unknown option.
 */
export function withServerCard(served: MCPServer | MountedServer, options: ServerCardOptions): MountedServer {
  const server = serverWithin(served)
  if (!isMCPServer<MCPServer>(server))
    throw new TypeError('withServerCard takes an MCPServer, or one with sessions or a task endpoint.')
  refuseUnknown('withServerCard', options, OPTIONS)
  const endpoint = URL.canParse(options?.url) ? new URL(options.url) : undefined
  if (endpoint?.protocol !== 'https:' && endpoint?.protocol !== 'http:')
    throw new TypeError(
      'withServerCard needs "url": the public URL of the MCP endpoint, such as https://shop.example/mcp.',
    )
  if (endpoint.username !== '' || endpoint.password !== '' || endpoint.search !== '' || endpoint.hash !== '')
    throw new TypeError('"url" of withServerCard is public: remove user, password, query and fragment.')
  // As parsed: clients compare URLs by their characters.
  const url = endpoint.origin + endpoint.pathname
  const { description = server.description, name = `${reversed(endpoint.hostname)}/${server.id}` } = options
  if (!NAME.test(name) || name.length > 200)
    throw new TypeError(`"${name}" is not a valid server card name: pass "name", such as "com.example/shop".`)
  if (typeof description !== 'string' || description === '' || [...description].length > MAX_TEXT)
    throw new TypeError(
      `A server card needs a description of 1 to ${MAX_TEXT} characters: pass "description" to withServerCard.`,
    )

  const path = endpoint.pathname.replace(/\/+$/, '')
  /** Created at the first request, since it completes the server's definition. */
  let documents: Promise<{ readonly card: Document; readonly catalog: Document }> | undefined
  const makeDocuments = async () => ({
    card: await toDocument(CARD.type, cardOf(server, { url, name, description })),
    catalog: await toDocument(CATALOG.type, catalogOf(name, endpoint.origin + path + CARD.suffix)),
  })
  const serve = async (request: Request, which: 'card' | 'catalog'): Promise<Response> => {
    documents ??= makeDocuments()
    return answer(request, (await documents)[which])
  }
  return mounted(served, (request, platform) => {
    const which = whichOf(request, platform, path)
    return which && serve(request, which)
  })
}

/** Most requests are for other paths and do not need their URL parsed. `path` is the endpoint's, as clients see it. */
function whichOf(request: Request, platform: RequestPlatform, path: string): 'card' | 'catalog' | undefined {
  const { url } = request
  if (!url.includes(CARD.suffix) && !url.includes(CATALOG.path)) return undefined
  const own = publicUrlOf(request, platform, false).path
  if (own === CATALOG.path) return 'catalog'
  if (!own.endsWith(CARD.suffix)) return undefined
  const parent = own.slice(0, -CARD.suffix.length)
  return (parent === '' ? path === '' : path.endsWith(parent)) ? 'card' : undefined
}

function cardOf(server: MCPServer, { url, name, description }: Required<ServerCardOptions>): object {
  const { serverInfo } = server.getSessionParts().definition
  const { title = server.name, version, websiteUrl, icons } = serverInfo
  return present({
    $schema: SCHEMA,
    name,
    version,
    description,
    title: [...title].slice(0, MAX_TEXT).join(''),
    websiteUrl,
    icons,
    remotes: [
      { type: 'streamable-http', url, supportedProtocolVersions: [...MODERN_VERSIONS, ...LEGACY_VERSIONS] },
    ],
  })
}

function catalogOf(name: string, url: string): object {
  const [namespace = '', own = ''] = name.split('/')
  const identifier = `urn:air:${reversed(namespace)}:mcp:${own}`
  return { specVersion: '1.0', entries: [{ identifier, type: CARD.type, url }] }
}

function reversed(name: string): string {
  return name.split('.').reverse().join('.')
}

async function toDocument(type: string, value: object): Promise<Document> {
  const text = JSON.stringify(value)
  return { type, text, etag: `"${toBase64Url((await sha256(text)).subarray(0, 18))}"` }
}

function answer({ method, headers: sent }: Request, { type, text, etag }: Document): Response {
  if (method === 'OPTIONS')
    return new Response(null, { status: 204, headers: { ...HEADERS, 'access-control-max-age': '86400' } })
  if (method !== 'GET' && method !== 'HEAD')
    return new Response(null, { status: 405, headers: { ...HEADERS, allow: 'GET, HEAD, OPTIONS' } })
  const headers = { ...HEADERS, etag, 'cache-control': 'public, max-age=3600' }
  if (isCurrent(sent.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  return new Response(method === 'HEAD' ? null : text, { headers: { ...headers, 'content-type': type } })
}

/** RFC 9110 §13.1.2: compared weakly. */
function isCurrent(sent: string | null, etag: string): boolean {
  if (sent === null) return false
  return sent.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
