/**
 * The HTTP options of any server, an `MCPServer` or one of another SDK: how they are configured, and what is made of them once.
 */
import type { Auth } from '../auth/auth.ts'
import type { Env } from '../definition/context.ts'
import { unknownOption } from '../definition/unknown-option.ts'
import type { CallLimits } from '../protocol/engine-options.ts'
import { parseHost } from '../request/address.ts'
import type { ReportError } from '../request/options.ts'
import type { Telemetry } from '../request/telemetry.ts'
import type { AppOptions } from './app.ts'
import type { AuditOptions } from './audit.ts'
import { type Log, toLog } from './log.ts'
import type { RateLimiter } from './rate-limit.ts'

/** How this server meets HTTP. */
export interface HttpConfig {
  /** Hosts to serve, `example.com` or `example.com:8443`. Default: `MAYFLY_ALLOWED_HOSTS`, else any (local ones on a loopback listener). */
  allowedHosts?: readonly string[]
  /** Origins to serve, `https://app.example.com`. Default: any on a public host; on a private one its own and local ones. */
  allowedOrigins?: readonly string[]
  /** The URL of the MCP endpoint as clients see it, `https://shop.example/mcp`. Default: that of the request. */
  publicUrl?: string
  /**
   * Your own proxy is in front of the server and sets `X-Forwarded-Host`, `-Proto`, `-Prefix` and `-For`. Default false: they
   * are not read, since any client could send them.
   */
  trustProxy?: boolean
  /** Bytes. Default 4 194 304. */
  maxBodyBytes?: number
  /** Bytes of all header names and values together; more are answered 431. Default: as much as the platform lets through. */
  maxHeaderBytes?: number
  /** Milliseconds that a body may take to arrive. Default 30 000; 0 for no limit. */
  bodyTimeoutMs?: number
  /** Levels of JSON nesting. Default 64. */
  maxJsonDepth?: number
  /** Members of all objects and items of all arrays of a body. Default 100 000. */
  maxJsonMembers?: number
  /** UTF-16 units of one string of a body. Default: as long as the body may be. */
  maxStringCharacters?: number
  /** Milliseconds that one call may take, whatever the platform allows. Default 600 000; 0 for no limit. */
  maxCallMs?: number
  /** Calls at once in one process or isolate, streams included; more are answered 503. Default: no limit. */
  maxConcurrentCalls?: number
  /**
   * Counts the calls of each principal, or else of each address that the platform vouches for; more are answered 429. One of
   * `createMemoryRateLimiter`, the platform's own, or a shared store's. Default: none.
   */
  rateLimiter?: RateLimiter | ((env: Env) => RateLimiter | undefined)
  /** Milliseconds after which an unanswered request becomes a stream with keep-alives. Default 3000. */
  streamAfterMs?: number
  /** Milliseconds between keep-alive comments: some platforms notice only then that a client has gone. Default 5000. */
  keepAliveMs?: number
  /** Milliseconds before the platform's deadline at which a call is ended. Default 1000. */
  deadlineMarginMs?: number
  /** `subscriptions/listen` streams open at once in one process or isolate. Default 1024. */
  maxListenStreams?: number
  /** Milliseconds after which a `subscriptions/listen` stream is ended gracefully; clients open the next. Default 300 000. */
  maxListenMs?: number
  /** `GET /` shows what the server is. Default true. */
  page?: boolean
  /** `GET /healthz` answers. Default true. */
  health?: boolean
}

export interface HostingConfig {
  /** Who may use this server: `jwt({ … })` and its kin, of `mayfly-mcp/auth`. Default: everybody. */
  auth?: Auth
  http?: HttpConfig
  /**
   * One entry per request. Default: a JSON line on the console; `'problems'` only for errors, refusals and calls of a second or
   * more, where the platform logs each invocation anyway; `false` for none.
   */
  log?: Log | 'problems' | false
  /** Told who called what, and what came of it; arguments by their names alone, unless `arguments` says otherwise. */
  audit?: AuditOptions
  /** Draws a span for each request: `openTelemetry()` of `mayfly-mcp/otel`. */
  telemetry?: Telemetry
  /** Told of every fault of the server; cannot change the answer. */
  onError?: ReportError
}

/** @throws TypeError for what cannot be served, naming the option. */
export function checkHosting({ auth, http = {}, log }: HostingConfig): void {
  toLog(log)
  if (auth !== undefined && typeof auth?.admit !== 'function') {
    throw new TypeError(
      '"auth" must be made by jwt, introspection, staticTokens or bearer of mayfly-mcp/auth: wrap your own function in bearer(…).',
    )
  }
  if (http.publicUrl !== undefined && !isWebUrl(http.publicUrl)) {
    throw new TypeError(
      '"http.publicUrl" must be an absolute http or https URL, such as https://shop.example/mcp.',
    )
  }
  checkList('allowedHosts', http.allowedHosts, 'example.com or example.com:8443', hostOf)
  checkList('allowedOrigins', http.allowedOrigins, 'https://app.example.com', originOf)
  const unknown = unknownOption(http, OPTIONS)
  if (unknown !== undefined) throw new TypeError(`"http" has no option "${unknown}".`)
  for (const [option, value] of Object.entries(http)) {
    const isLimit = OPTIONS[option as keyof HttpConfig] === LIMIT
    if (option === 'keepAliveMs' && value === 0) throw new TypeError('"http.keepAliveMs" must be above 0.')
    // setTimeout takes 32 bits: a longer time would end at once.
    if (isLimit && !(Number.isFinite(value) && (value as number) >= 0 && (value as number) < 2 ** 31))
      throw new TypeError(`"http.${option}" must be a number from 0 to 2147483647.`)
  }
}

/** A number: `Infinity` is none, as a limit would be left out for that. */
const LIMIT = 1
const OTHER = 0

/** All there are: a misspelt `allowedHosts` would leave a server open. */
const OPTIONS: { readonly [option in keyof HttpConfig]-?: typeof LIMIT | typeof OTHER } = {
  allowedHosts: OTHER,
  allowedOrigins: OTHER,
  publicUrl: OTHER,
  trustProxy: OTHER,
  rateLimiter: OTHER,
  page: OTHER,
  health: OTHER,
  maxBodyBytes: LIMIT,
  maxHeaderBytes: LIMIT,
  bodyTimeoutMs: LIMIT,
  maxJsonDepth: LIMIT,
  maxJsonMembers: LIMIT,
  maxStringCharacters: LIMIT,
  maxCallMs: LIMIT,
  maxConcurrentCalls: LIMIT,
  streamAfterMs: LIMIT,
  keepAliveMs: LIMIT,
  deadlineMarginMs: LIMIT,
  maxListenStreams: LIMIT,
  maxListenMs: LIMIT,
}

/** Wrongly written, an entry would match no request, and each would be refused. */
function checkList(
  option: string,
  entries: readonly string[] | undefined,
  example: string,
  toCorrect: (entry: string) => string | undefined,
): void {
  if (entries === undefined) return
  if (!Array.isArray(entries)) throw new TypeError(`"http.${option}" must be a list, such as ["${example}"].`)
  for (const entry of entries as readonly unknown[]) {
    if (entry === '*' && option === 'allowedOrigins') continue
    // Patterns are not compared as patterns.
    const isPlain = typeof entry === 'string' && !entry.includes('*')
    const correct = isPlain ? toCorrect(entry) : undefined
    if (correct !== undefined && correct === entry) continue
    const remedy = correct === undefined ? `write it like ${example}` : `write "${correct}"`
    throw new TypeError(
      `"http.${option}" contains ${JSON.stringify(entry)}, which no request can match: ${remedy}.`,
    )
  }
}

/** The entry itself where it is a host; the host of a URL. */
function hostOf(entry: string): string | undefined {
  if (parseHost(entry) !== undefined) return entry
  return isWebUrl(entry) ? new URL(entry).host : undefined
}

/** As browsers write it (RFC 6454 §6.2). Those of extensions are no URLs to every parser. */
function originOf(entry: string): string | undefined {
  if (entry === 'null') return entry
  if (isWebUrl(entry)) return new URL(entry).origin
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(entry)) return entry
  return parseHost(entry) === undefined ? undefined : `https://${entry}`
}

/** The limits of each call, with their defaults. */
export function toCallLimits({ http = {} }: HostingConfig): CallLimits {
  return {
    maxJsonDepth: http.maxJsonDepth ?? 64,
    maxJsonMembers: http.maxJsonMembers ?? 100_000,
    maxStringCharacters: http.maxStringCharacters ?? Number.POSITIVE_INFINITY,
    maxCallMs: http.maxCallMs ?? 600_000,
    streamAfterMs: http.streamAfterMs ?? 3000,
    keepAliveMs: http.keepAliveMs ?? 5000,
    deadlineMarginMs: http.deadlineMarginMs ?? 1000,
    maxListenStreams: http.maxListenStreams ?? 1024,
    maxListenMs: http.maxListenMs ?? 300_000,
  }
}

/** How the app is set up, with its defaults. */
export function toAppOptions(
  { auth, audit, http = {}, log }: HostingConfig,
  reportError: ReportError,
): AppOptions {
  return {
    allowedHosts: http.allowedHosts?.map((host) => host.toLowerCase()),
    allowedOrigins: http.allowedOrigins,
    auth,
    maxBodyBytes: http.maxBodyBytes ?? 4_194_304,
    maxHeaderBytes: http.maxHeaderBytes,
    bodyTimeoutMs: http.bodyTimeoutMs ?? 30_000,
    maxConcurrentCalls: http.maxConcurrentCalls ?? Number.POSITIVE_INFINITY,
    rateLimiterFor: forEnv(http.rateLimiter),
    publicUrl: http.publicUrl,
    trustProxy: http.trustProxy ?? false,
    page: http.page ?? true,
    health: http.health ?? true,
    log: toLog(log),
    audit,
    reportError,
  }
}

/** What is made once, or for each environment a request comes with. */
export function forEnv<Thing extends object>(
  given: Thing | ((env: Env) => Thing | undefined) | undefined,
): (env: unknown) => Thing | undefined {
  if (typeof given !== 'function') return () => given
  return (env) => given((env ?? {}) as Env)
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
