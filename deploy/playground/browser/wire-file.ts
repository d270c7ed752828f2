/** The exchanges of the wire as an HTTP Archive (HAR 1.2), which browsers and proxies open. Without tokens and session IDs. */
import type { Exchange } from './exchange.ts'
import { type Json, wholeJson } from './json.ts'

const MASK = '•••'
/** A shorter token is not one, and would stand in other words. */
const MIN_SECRET = 8

/** @param secrets are masked wherever they are, for servers that repeat what they were sent. */
export function toHar(exchanges: readonly Exchange[], endpoint: string, secrets: readonly string[]): string {
  const { origin, pathname } = new URL(endpoint)
  // The query may be a key.
  const url = origin + pathname
  const log = {
    version: '1.2',
    creator: { name: 'mayfly playground', version: '1.0.0' },
    entries: exchanges.map((exchange) => toEntry(exchange, url)),
  }
  const text = wholeJson({ log }) ?? '{}'
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .reduce((left, secret) => left.replaceAll(JSON.stringify(secret).slice(1, -1), MASK), text)
}

function toEntry(exchange: Exchange, url: string): Json {
  const { startedAt, totalMs = 0, headersMs = totalMs, events, body, bytes, status = 0 } = exchange
  const text = body ?? events.map(({ data }) => data.replace(/^/gm, 'data: ')).join('\n\n')
  const responseHeaders = exchange.responseHeaders ?? []
  const type = responseHeaders.find(([name]) => name === 'content-type')?.[1]
  const requestText = JSON.stringify(exchange.requestBody)
  return {
    startedDateTime: new Date(performance.timeOrigin + startedAt).toISOString(),
    time: totalMs,
    request: {
      method: exchange.method,
      url,
      httpVersion: 'HTTP/1.1',
      headers: masked(Object.entries(exchange.requestHeaders)),
      queryString: [],
      cookies: [],
      headersSize: -1,
      bodySize: requestText.length,
      postData: { mimeType: 'application/json', text: requestText },
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      headers: masked(responseHeaders),
      cookies: [],
      content: { size: bytes, mimeType: type ?? '', text },
      redirectURL: '',
      headersSize: -1,
      bodySize: bytes,
    },
    cache: {},
    timings: { send: 0, wait: headersMs, receive: Math.max(totalMs - headersMs, 0) },
    ...(exchange.problem !== undefined && { comment: exchange.problem }),
    ...(events.length > 0 && { _eventsAtMs: events.map(({ atMs }) => atMs) }),
  }
}

function masked(headers: readonly (readonly [string, string])[]): Json[] {
  const isSecret = /^(?:authorization|mcp-session-id|set-cookie|cookie)$/
  return headers.map(([name, value]) => ({
    name,
    value: isSecret.test(name) && value !== '' ? MASK : value,
  }))
}
