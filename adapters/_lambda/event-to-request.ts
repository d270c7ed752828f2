/**
 * Converts the events of AWS Lambda's HTTP triggers to web-standard requests. Four event shapes cover six triggers:
 *
 * - `v2`: Function URL, and API Gateway HTTP API with payload format 2.0
 * - `v1`: API Gateway REST API, and HTTP API with payload format 1.0
 * - `alb` and `alb-multi-value`: Application Load Balancer, depending on its target group's setting
 */

import { Buffer } from 'node:buffer'
import { isObject } from '../../src/definition/is-object.ts'
import { plainHeaders } from '../_fetch/plain-headers.ts'
import { PlainPost } from '../_fetch/plain-post.ts'

export type EventShape = 'v2' | 'v1' | 'alb' | 'alb-multi-value'

/** One call, as the event describes it. */
export interface LambdaCall {
  readonly shape: EventShape
  /** Undefined if no `Request` can be created: for a method that the Fetch standard forbids, or an invalid header. */
  readonly toRequest: () => Request | undefined
  /** The same as a substitute that costs less. Undefined for all but an ordinary POST. */
  readonly toPost: () => PlainPost | undefined
  /** The stage, if it is part of the path that clients use: `/prod`. May be empty. */
  readonly prefix: string
  /** Whether the host comes from AWS's routing. Otherwise it comes from the client. */
  readonly vouchesForHost: boolean
  readonly clientAddress: string | undefined
}

/** The parts of the URL, before they are joined. */
interface Parts {
  readonly shape: EventShape
  readonly method: string
  readonly host: string | undefined
  readonly path: string
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly prefix: string
  readonly clientAddress: string | undefined
}

type Json = { readonly [name: string]: unknown }

/** `host` or `host:port`, including an IPv6 address in brackets. */
const PLAIN_HOST = /^(?:[a-z\d_.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Throws `TypeError` for an event that is not from an HTTP trigger. */
export function readCall(event: unknown): LambdaCall {
  const { shape, prefix, clientAddress, ...parts } = readParts(event)
  return {
    ...{ shape, prefix, clientAddress, vouchesForHost: isPlainHost(parts.host) },
    toRequest: () => toRequest(parts, event as Json),
    toPost: () => toPost(parts, event as Json),
  }
}

function readParts(event: unknown): Parts {
  if (isObject(event) && isObject(event.requestContext)) {
    if (isObject(event.requestContext.http)) return readV2(event, event.requestContext)
    if (isObject(event.requestContext.elb)) return readAlb(event)
    if (typeof event.httpMethod === 'string') return readV1(event, event.requestContext)
  }
  throw new TypeError(
    'This event is not from an HTTP trigger: use a Function URL, an API Gateway HTTP API (payload format 2.0 or 1.0) or REST API, or an Application Load Balancer.',
  )
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
function readV2(event: Json, context: Json): Parts {
  const { http, stage, apiId, domainName, domainPrefix } = context as Json & { readonly http: Json }
  const rawPath = text(event.rawPath) ?? '/'
  const stagePath = stage === '$default' || typeof stage !== 'string' ? '' : `/${stage}`
  const isStaged = stagePath !== '' && startsWithPath(rawPath, stagePath)
  // `rawPath` has the stage even if clients do not send it: on a custom domain, whose first label is not the API's id.
  const isPublic = domainPrefix === apiId
  return {
    shape: 'v2',
    method: text(http.method) ?? 'GET',
    host: text(domainName),
    path: isStaged && !isPublic ? rawPath.slice(stagePath.length) : rawPath,
    query: text(event.rawQueryString) ?? '',
    headers: [...singleHeaders(event.headers), ...cookieHeader(event.cookies)],
    prefix: isStaged && isPublic ? stagePath : '',
    clientAddress: text(http.sourceIp),
  }
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
function readV1(event: Json, context: Json): Parts {
  const path = text(event.path) ?? '/'
  // The event's path lacks the stage, while the context's path is what clients use. On a custom domain both are equal.
  const publicPath = text(context.path) ?? path
  const stagePath = `/${text(context.stage) ?? ''}`
  const isStaged = publicPath !== path && startsWithPath(publicPath, stagePath)
  return {
    shape: 'v1',
    method: text(event.httpMethod) ?? 'GET',
    host: text(context.domainName),
    path: publicPath,
    query: decodedQuery(event),
    headers: anyHeaders(event),
    prefix: isStaged ? stagePath : '',
    clientAddress: isObject(context.identity) ? text(context.identity.sourceIp) : undefined,
  }
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html */
function readAlb(event: Json): Parts {
  const headers = anyHeaders(event)
  return {
    shape: isObject(event.multiValueHeaders) ? 'alb-multi-value' : 'alb',
    method: text(event.httpMethod) ?? 'GET',
    host: undefined,
    path: text(event.path) ?? '/',
    // Unlike API Gateway, the load balancer does not decode the query.
    query: queryPairs(event)
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
    headers,
    prefix: '',
    // The load balancer appends the address it saw; the client sent everything before.
    clientAddress: headerOf(headers, 'x-forwarded-for')?.split(',').at(-1)?.trim(),
  }
}

type RequestParts = Pick<Parts, 'method' | 'host' | 'path' | 'query' | 'headers'>

function toRequest(parts: RequestParts, event: Json): Request | undefined {
  const { method, headers } = parts
  const url = urlOf(parts)
  const body = method === 'GET' || method === 'HEAD' ? null : bytesOf(event)
  try {
    return new Request(url, {
      method,
      headers: headers.map(([name, value]) => [name, value] as [string, string]),
      body,
    })
  } catch {
    return undefined
  }
}

function toPost(parts: RequestParts, event: Json): PlainPost | undefined {
  const bytes = parts.method === 'POST' ? bytesOf(event) : null
  const headers = bytes && plainHeaders(parts.headers)
  if (!bytes || !headers) return undefined
  // Not every trigger passes it on. The whole body is here.
  if (!headers.has('content-length')) headers.set('content-length', String(bytes.byteLength))
  return new PlainPost(urlOf(parts).href, headers, {
    read: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    toBody: () => bytes,
    // Never aborts: Lambda does not report disconnects.
    toSignal: () => new AbortController().signal,
  })
}

function urlOf({ host, path, query, headers }: RequestParts): URL {
  const scheme = headerOf(headers, 'x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase()
  const url = new URL(`${scheme === 'http' ? 'http' : 'https'}://${plainHost(host, headers)}`)
  // Assigned, not resolved: otherwise a path such as `//evil.com`, or one with a scheme, would change the host.
  url.pathname = path
  url.search = query
  return url
}

/** Bytes, since a string would add a content type. Null without a body. */
function bytesOf({ body, isBase64Encoded }: Json): Buffer<ArrayBuffer> | null {
  return typeof body === 'string' && body !== ''
    ? Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8')
    : null
}

/** The host that the platform reports, otherwise the one that the client sent. */
function plainHost(host: string | undefined, headers: Parts['headers']): string {
  const named = host ?? headerOf(headers, 'host')
  return isPlainHost(named) ? named : 'localhost'
}

function isPlainHost(host: string | undefined): host is string {
  return host !== undefined && PLAIN_HOST.test(host) && URL.canParse(`https://${host}`)
}

function singleHeaders(headers: unknown): [string, string][] {
  if (!isObject(headers)) return []
  return Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
}

/** The headers with all their values, if the event has them. */
function anyHeaders({ headers, multiValueHeaders }: Json): [string, string][] {
  return isObject(multiValueHeaders) ? pairs(multiValueHeaders) : singleHeaders(headers)
}

/** Payload format 2.0 separates cookies from the other headers. */
function cookieHeader(cookies: unknown): [string, string][] {
  return Array.isArray(cookies) && cookies.length > 0 ? [['cookie', cookies.join('; ')]] : []
}

function decodedQuery(event: Json): string {
  return new URLSearchParams(queryPairs(event)).toString()
}

function queryPairs({
  queryStringParameters: single,
  multiValueQueryStringParameters: multi,
}: Json): [string, string][] {
  return isObject(multi) ? pairs(multi) : singleHeaders(single)
}

function pairs(multi: Json): [string, string][] {
  return Object.entries(multi).flatMap(([name, values]) =>
    Array.isArray(values) ? values.map((value): [string, string] => [name, String(value)]) : [],
  )
}

/** The last value: the platform appends its own after the client's. */
function headerOf(headers: Parts['headers'], name: string): string | undefined {
  return headers.findLast(([candidate]) => candidate.toLowerCase() === name)?.[1]
}

function startsWithPath(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
