/**
 * Turns a request into an event, and a function's result into a response, like AWS's HTTP triggers. Written from AWS's documentation,
 * independently of the adapter.
 */
import { Buffer } from 'node:buffer'

export type Trigger = 'function-url' | 'http-api' | 'rest-api' | 'alb' | 'alb-multi-value'

export const TRIGGERS: readonly Trigger[] = ['function-url', 'http-api', 'rest-api', 'alb', 'alb-multi-value']

/** A request as received. */
export interface WireRequest {
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  /** Names as sent, each with one value. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  readonly sourceIp: string
}

export interface WireResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string | readonly string[]])[]
  readonly body: Buffer
}

/** What a function returns for an HTTP trigger. A streaming function sends everything except the body first. */
export interface FunctionResult {
  readonly statusCode: number
  readonly statusDescription?: string
  readonly headers?: { readonly [name: string]: string }
  readonly multiValueHeaders?: { readonly [name: string]: readonly string[] }
  readonly cookies?: readonly string[]
  readonly body?: string
  readonly isBase64Encoded?: boolean
}

const API_ID = 'local'

/** The event of one request. `stage` is part of the path unless it is `$default`. */
export function toEvent(trigger: Trigger, request: WireRequest, stage: string): object {
  if (trigger === 'function-url') return toV2(request, '$default')
  if (trigger === 'http-api') return toV2(request, stage)
  return trigger === 'rest-api' ? toRest(request, stage) : toAlb(request, trigger === 'alb-multi-value')
}

/** Throws `TypeError` for a result that the trigger refuses. */
export function fromResult(trigger: Trigger, result: FunctionResult): WireResponse {
  const { body = '', isBase64Encoded = false } = result
  // A REST API decodes only the media types that are configured as binary, by default none.
  const isDecoded = isBase64Encoded && trigger !== 'rest-api'
  return { ...fromHead(trigger, result), body: Buffer.from(body, isDecoded ? 'base64' : 'utf8') }
}

export function fromHead(trigger: Trigger, head: FunctionResult): Omit<WireResponse, 'body'> {
  const { statusCode: status, headers = {}, multiValueHeaders = {}, cookies = [] } = head
  if (!Number.isInteger(status)) throw new TypeError('statusCode is missing')
  const single = Object.entries(headers)
  const multi = Object.entries(multiValueHeaders)
  if (trigger === 'alb') return { status, headers: single }
  if (trigger === 'alb-multi-value') return { status, headers: multi }
  if (trigger === 'rest-api') return { status, headers: [...single, ...multi] }
  return { status, headers: cookies.length === 0 ? single : [...single, ['set-cookie', cookies]] }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
function toV2({ method, target, headers, body, sourceIp }: WireRequest, stage: string): object {
  const [path, query] = splitTarget(target)
  const cookies = headers
    .filter(([name]) => isNamed(name, 'cookie'))
    .flatMap(([, value]) => value.split('; '))
  const others = headers.filter(([name]) => !isNamed(name, 'cookie'))
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
    headers: Object.fromEntries(joined(forwarded(others, sourceIp))),
    requestContext: {
      accountId: 'anonymous',
      apiId: API_ID,
      domainName: hostOf(headers),
      domainPrefix: API_ID,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: '' },
      requestId: 'local',
      routeKey: '$default',
      stage,
    },
    ...encodedBody(headers, body),
  }
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
function toRest({ method, target, headers, body, sourceIp }: WireRequest, stage: string): object {
  const [path, query] = splitTarget(target)
  const own = path.slice(stage.length + 1) || '/'
  const all = forwarded(headers, sourceIp)
  const parameters = [...new URLSearchParams(query)]
  return {
    resource: '/{proxy+}',
    path: own,
    httpMethod: method,
    headers: Object.fromEntries(all),
    multiValueHeaders: grouped(all),
    queryStringParameters: parameters.length === 0 ? null : Object.fromEntries(parameters),
    multiValueQueryStringParameters: parameters.length === 0 ? null : grouped(parameters),
    pathParameters: { proxy: own.slice(1) },
    stageVariables: null,
    requestContext: {
      apiId: API_ID,
      domainName: hostOf(headers),
      domainPrefix: API_ID,
      httpMethod: method,
      identity: { sourceIp, userAgent: '' },
      path,
      protocol: 'HTTP/1.1',
      requestId: 'local',
      resourcePath: '/{proxy+}',
      stage,
    },
    body: body.byteLength === 0 ? null : body.toString('utf8'),
    isBase64Encoded: false,
  }
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html */
function toAlb({ method, target, headers, body, sourceIp }: WireRequest, isMultiValue: boolean): object {
  const [path, query] = splitTarget(target)
  const all = forwarded(headers, sourceIp).map(([name, value]) => [name.toLowerCase(), value] as const)
  // Names and values stay encoded.
  const parameters = query.split('&').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return name === '' ? [] : [[name, value.join('=')] as const]
  })
  return {
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:us-east-1:000000000000:targetgroup/local' },
    },
    httpMethod: method,
    path,
    ...(isMultiValue
      ? { multiValueHeaders: grouped(all), multiValueQueryStringParameters: grouped(parameters) }
      : { headers: Object.fromEntries(all), queryStringParameters: Object.fromEntries(parameters) }),
    ...encodedBody(headers, body, ''),
  }
}

/** Text types are sent unchanged unless compressed; all others as Base64. */
function encodedBody(
  headers: WireRequest['headers'],
  body: Buffer,
  empty?: string,
): { body?: string; isBase64Encoded: boolean } {
  if (body.byteLength === 0) return { ...(empty !== undefined && { body: empty }), isBase64Encoded: false }
  const type = headers.find(([name]) => isNamed(name, 'content-type'))?.[1] ?? ''
  const isText =
    /^(?:text\/|application\/(?:json|javascript|xml)\b)/i.test(type) &&
    !headers.some(([name]) => isNamed(name, 'content-encoding'))
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText }
}

/** The address is appended to the client's value; the scheme replaces it. */
function forwarded(headers: WireRequest['headers'], sourceIp: string): (readonly [string, string])[] {
  const sent = headers.filter(([name]) => isNamed(name, 'x-forwarded-for')).map(([, value]) => value)
  const others = headers.filter(([name]) => !/^x-forwarded-(?:for|proto)$/i.test(name))
  return [...others, ['x-forwarded-for', [...sent, sourceIp].join(', ')], ['x-forwarded-proto', 'http']]
}

/** With the port, unlike AWS, since clients use this address. */
function hostOf(headers: WireRequest['headers']): string {
  return headers.find(([name]) => isNamed(name, 'host'))?.[1] ?? ''
}

function splitTarget(target: string): [path: string, query: string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

/** Lower-case names; several values of one are joined. */
function joined(headers: WireRequest['headers']): [string, string][] {
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.entries(grouped(lower)).map(([name, values]) => [name, values.join(',')])
}

function grouped(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {}
  for (const [name, value] of pairs) {
    groups[name] ??= []
    groups[name].push(value)
  }
  return groups
}

function isNamed(name: string, wanted: string): boolean {
  return name.toLowerCase() === wanted
}
