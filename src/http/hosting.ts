/**
 * The HTTP options of any server, an `MCPServer` or one of another SDK, with their checks and defaults.
 */

import type { Env } from '../definition/context.ts'
import { forEnv } from '../definition/for-env.ts'
import { ABOVE_ZERO } from '../definition/option-kind.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { CallLimits } from '../protocol/engine-options.ts'
import { parseHost } from '../request/address.ts'
import type { ReportError } from '../request/options.ts'
import type { Sharing } from '../request/sharing.ts'
import type { Telemetry } from '../request/telemetry.ts'
import type { AppOptions } from './app.ts'
import type { AuditOptions } from './audit.ts'
import { UNCOUNTED_BYTES } from './body.ts'
import { createCallerOf } from './caller.ts'
import { accessOfUnknown, type CallersConfig, checkCallers, tokenAuthOf } from './known-callers.ts'
import { type Log, type LogSetting, toLogSink } from './log.ts'
import type { RateLimiter } from './rate-limit.ts'

/** The HTTP options of a server. */
export interface HttpConfig {
  /** Accepted hosts, `example.com` or `example.com:8443`. Default: `MAYFLY_ALLOWED_HOSTS`, else any (only local ones on loopback). */
  allowedHosts?: readonly string[] | undefined
  /** Accepted origins, `https://app.example.com`. Default: any on a public host; on a private one, its own and local ones. */
  allowedOrigins?: readonly string[] | undefined
  /** The URL of the MCP endpoint as clients see it, `https://shop.example/mcp`. Default: the URL of the request. */
  publicUrl?: string | undefined
  /**
   * Set it if your own proxy sets `X-Forwarded-Host`, `-Proto`, `-Prefix` and `-For`. Default false:
   * they are not read, since any client could send them.
   */
  trustProxy?: boolean | undefined
  /** Maximum bytes of a body; a larger one is answered 413. Default 4 194 304. */
  maxBodyBytes?: number | undefined
  /** Maximum bytes of all header names and values together; more are answered 431. Default: the platform's limit. */
  maxHeaderBytes?: number | undefined
  /** Milliseconds within which a body must arrive. Default 30 000; 0 for no limit. */
  bodyTimeoutMs?: number | undefined
  /** Maximum levels of JSON nesting. Default 64. */
  maxJsonDepth?: number | undefined
  /** Maximum number of object members and array items in a body. Default 100 000. */
  maxJsonMembers?: number | undefined
  /** Maximum UTF-16 units of one string in a body. Default: limited only by the size of the body. */
  maxStringCharacters?: number | undefined
  /** Maximum milliseconds of one call, also if the platform allows more. Default 600 000; 0 for no limit. */
  maxCallMs?: number | undefined
  /** Maximum concurrent calls in one process or isolate, streams included; more are answered 503. Default: no limit. */
  maxConcurrentCalls?: number | undefined
  /**
   * The part of calls, streams, sessions and buffers left by others that one caller may hold, above 0 and at most 1. A caller is a
   * principal, otherwise a public address. More are answered 429. Default 0.5; 1 for no share.
   */
  callerShare?: number | undefined
  /** Maximum bytes of all bodies over 64 KiB that are arriving; more are answered 503. Default: 16 times `maxBodyBytes`. */
  maxBufferedBytes?: number | undefined
  /** Maximum calls of legacy clients that wait for an answer at a rendezvous; more are not asked. Default 1000. */
  maxWaitingCalls?: number | undefined
  /**
   * Limits the calls per principal, otherwise per address that the platform reports; more are answered 429.
   * Use `createMemoryRateLimiter`, your platform's limiter or one on a shared store. Default: none.
   */
  rateLimiter?: (RateLimiter | ((env: Env) => RateLimiter | undefined)) | undefined
  /** Milliseconds after which an unanswered request becomes a stream with keep-alives. Default 3000. */
  streamAfterMs?: number | undefined
  /** Milliseconds between keep-alive comments; some platforms notice a disconnect only when one is written. Default 5000. */
  keepAliveMs?: number | undefined
  /** How many milliseconds before the platform's deadline a call is ended. Default 1000. */
  deadlineMarginMs?: number | undefined
  /** Maximum concurrent `subscriptions/listen` streams in one process or isolate. Default 1024. */
  maxListenStreams?: number | undefined
  /** Maximum characters of the URIs of all those streams, with 100 more for each URI; more are answered 503. Default 10 000 000. */
  maxListenCharacters?: number | undefined
  /** Milliseconds after which a `subscriptions/listen` stream ends gracefully; clients then open a new one. Default 300 000. */
  maxListenMs?: number | undefined
  /** Whether `GET /` shows a page that describes the server. Default true. */
  page?: boolean | undefined
  /** Whether `GET /healthz` answers. Default true. */
  health?: boolean | undefined
}

/** The options that an `MCPServer` and a server of another SDK share. */
export interface HostingConfig extends CallersConfig {
  /** Options for HTTP: hosts, origins, limits, the page and the health check. */
  http?: HttpConfig | undefined
  /**
   * Which requests are logged as a JSON line on the console: `'problems'` (errors, refusals, and calls of a second or more), `'all'`, or
   * none (`false`, also of deliveries of MCP Events); a function gets one entry per request instead. Default: `'problems'`, or `'all'` if
   * the environment has `MAYFLY_LOG=all`.
   */
  log?: Log | LogSetting | undefined
  /** Receives who called what, and the outcome. Only the names of arguments are recorded, unless `arguments` is set. */
  audit?: AuditOptions | undefined
  /** Creates a span for each request: `openTelemetry()` of `mayfly-mcp/otel`. */
  telemetry?: Telemetry | undefined
  /** Called with every server error. Cannot change the response. */
  onError?: ReportError | undefined
}

/** @throws TypeError for an option of `http` beside it. To be called before unknown options are refused. */
export function refuseMisplaced(where: string, given: object | undefined): void {
  const name = Object.keys(given ?? {}).find((one) => Object.hasOwn(OPTIONS, one))
  if (name !== undefined)
    throw new TypeError(`${where} has no option "${name}": write it into "http", http: { ${name}: … }.`)
}

/** @throws TypeError for an invalid option, naming it. */
export function checkHosting({ http = {}, log, audit, ...config }: HostingConfig): void {
  toLogSink(log)
  refuseUnknown('"audit"', audit, AUDIT_OPTIONS)
  checkCallers(config)
  refuseUnknown('"http"', http, OPTIONS)
  if (http.publicUrl !== undefined && !isWebUrl(http.publicUrl)) {
    throw new TypeError(
      '"http.publicUrl" must be an absolute http or https URL, such as https://shop.example/mcp.',
    )
  }
  checkList('allowedHosts', http.allowedHosts, 'example.com or example.com:8443', hostOf)
  checkList('allowedOrigins', http.allowedOrigins, 'https://app.example.com', originOf)
  const { rateLimiter } = http
  if (typeof rateLimiter === 'object' && typeof rateLimiter.limit !== 'function')
    throw new TypeError(
      '"http.rateLimiter" must have limit(), such as createMemoryRateLimiter(), or be a function.',
    )
  const { maxBodyBytes = MAX_BODY_BYTES, maxBufferedBytes = bufferedBytes(http), callerShare = 0.5 } = http
  if (maxBodyBytes - UNCOUNTED_BYTES > maxBufferedBytes * callerShare)
    throw new TypeError(
      `"http.maxBufferedBytes" must be at least ${Math.ceil((maxBodyBytes - UNCOUNTED_BYTES) / callerShare)}: the largest body of one caller, of "http.maxBodyBytes", does not fit into its "http.callerShare".`,
    )
}

const MAX_BODY_BYTES = 4_194_304

function bufferedBytes({ maxBodyBytes = MAX_BODY_BYTES, callerShare = 0.5 }: HttpConfig): number {
  return maxBodyBytes * Math.max(16, 1 / callerShare)
}

/** `setTimeout` takes 32 bits: a longer time would fire at once. `Infinity` is refused: omit the option for no limit. */
const LIMIT = [0, MAX_TIMER_MS] as const

/** All options, since ignoring a misspelt `allowedHosts` would leave a server open. */
const OPTIONS: Names<HttpConfig> = {
  allowedHosts: 'strings',
  allowedOrigins: 'strings',
  publicUrl: 'string',
  trustProxy: 'boolean',
  rateLimiter: 'object',
  page: 'boolean',
  health: 'boolean',
  maxBodyBytes: LIMIT,
  maxHeaderBytes: LIMIT,
  bodyTimeoutMs: LIMIT,
  maxJsonDepth: LIMIT,
  maxJsonMembers: LIMIT,
  maxStringCharacters: LIMIT,
  maxCallMs: LIMIT,
  maxConcurrentCalls: LIMIT,
  callerShare: [ABOVE_ZERO, 1],
  maxBufferedBytes: LIMIT,
  maxWaitingCalls: LIMIT,
  streamAfterMs: LIMIT,
  keepAliveMs: [ABOVE_ZERO, LIMIT[1]],
  deadlineMarginMs: LIMIT,
  maxListenStreams: LIMIT,
  maxListenCharacters: LIMIT,
  maxListenMs: LIMIT,
}
const AUDIT_OPTIONS: Names<AuditOptions> = { record: 'function', arguments: 'function' }

/** The names of `HostingConfig`. */
export const HOSTING_OPTIONS: Names<HostingConfig> = {
  auth: 1,
  trustedTransport: 'boolean',
  http: 'object',
  log: 1,
  audit: 'object',
  telemetry: 'object',
  onError: 'function',
}

/** An invalid entry would never match, so that every request would be refused. */
function checkList(
  option: string,
  entries: readonly string[] = [],
  example: string,
  toCorrect: (entry: string) => string | undefined,
): void {
  for (const entry of entries) {
    if (entry === '*' && option === 'allowedOrigins') continue
    // Wildcards are not supported.
    const correct = entry.includes('*') ? undefined : toCorrect(entry)
    if (correct === entry) continue
    const remedy = correct === undefined ? `write it like ${example}` : `write "${correct}"`
    throw new TypeError(
      `"http.${option}" contains ${JSON.stringify(entry)}, which no request can match: ${remedy}.`,
    )
  }
}

/** The entry itself if it is a host; the host if it is a URL. */
function hostOf(entry: string): string | undefined {
  if (parseHost(entry) !== undefined) return entry
  return isWebUrl(entry) ? new URL(entry).host : undefined
}

/** As browsers write it (RFC 6454 §6.2). Not every parser reads the origins of extensions as URLs. */
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
    maxListenCharacters: http.maxListenCharacters ?? 10_000_000,
    maxListenMs: http.maxListenMs ?? 300_000,
    maxWaitingCalls: http.maxWaitingCalls ?? 1000,
    ...toSharing(http),
  }
}

function toSharing({ callerShare = 0.5, trustProxy = false }: HttpConfig): Sharing {
  return { callerShare, callerOf: createCallerOf(trustProxy) }
}

/** The options of the app, with their defaults. `isScoped`: whether anything of the server may need a scope. */
export function toAppOptions(
  { audit, http = {}, log, id, ...config }: HostingConfig & { readonly id?: string },
  reportError: ReportError,
  isScoped: boolean,
): AppOptions {
  const { maxBodyBytes = MAX_BODY_BYTES } = http
  return {
    auth: tokenAuthOf(config),
    serverId: id,
    unknownAccess: accessOfUnknown(config, isScoped),
    allowedHosts: http.allowedHosts?.map((host) => host.toLowerCase()),
    allowedOrigins: http.allowedOrigins,
    maxBodyBytes,
    maxBufferedBytes: http.maxBufferedBytes ?? bufferedBytes(http),
    ...toSharing(http),
    maxHeaderBytes: http.maxHeaderBytes,
    bodyTimeoutMs: http.bodyTimeoutMs ?? 30_000,
    maxConcurrentCalls: http.maxConcurrentCalls ?? Number.POSITIVE_INFINITY,
    rateLimiterFor: http.rateLimiter && forEnv(http.rateLimiter),
    publicUrl: http.publicUrl,
    trustProxy: http.trustProxy ?? false,
    page: http.page ?? true,
    health: http.health ?? true,
    log: toLogSink(log),
    audit,
    reportError,
  }
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
