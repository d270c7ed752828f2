/**
 * What every answer of a server must be, whatever was sent to it.
 */
import { isDeepStrictEqual } from 'node:util'
import { SECRET } from './genuine.ts'
import { fromBytes, promise } from './target.ts'

/** What was sent, as a server can read it. */
export interface Sent {
  readonly method: string
  /** UTF-8 bytes, one character each. */
  readonly body: string
  readonly headers: Headers
}

type Json = { readonly [name: string]: unknown }

/** Stacks, places in sources, and the secret: never in an answer, unless the client said them itself. */
const LEAK = new RegExp(`\\n\\s+at |\\.ts:\\d|node_modules|file:///|${SECRET}`)

const HEADER_NAMES = new Set([
  ...[
    'x-content-type-options',
    'cache-control',
    'x-request-id',
    'content-type',
    'content-security-policy',
    'allow',
  ],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'access-control-allow-methods', 'vary'],
  ...[
    'access-control-allow-headers',
    'access-control-max-age',
    'mcp-session-id',
    'www-authenticate',
    'retry-after',
  ],
  'x-accel-buffering',
])

/** `Bearer` with quoted parameters (RFC 6750 §3, RFC 9110 §5.6.4). */
export const CHALLENGE =
  /^Bearer \w+="[\x20-\x21\x23-\x5b\x5d-\x7e]*"(?:, \w+="[\x20-\x21\x23-\x5b\x5d-\x7e]*")*$/

/** The kind of answer. @throws Finding for an answer that is not allowed. */
export async function checkAnswer(response: Response, sent: Sent): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  const { status, headers } = response
  promise(status < 500, `status ${status}: ${text.slice(0, 200)}`)
  checkHeaders(headers, sent)
  const leak = LEAK.exec(text)?.[0]
  promise(
    leak === undefined || fromBytes(sent.body).includes(leak.trim()),
    `the answer holds ${JSON.stringify(leak)}`,
  )
  const type = headers.get('content-type')
  const outcome = `${status} ${type} ${shapeOf(text)}`
  if (sent.method !== 'POST') return outcome
  if (type === 'text/event-stream') checkStream(text, sent)
  else if (type === 'application/json') checkJson(JSON.parse(text), status, sent)
  else promise(text === '' && type === null, `a POST was answered in ${type}`)
  return outcome
}

/** Members that distinguish answers, if their values come from the server: others may contain the client's text. */
const MEMBERS =
  /"(?:error"|code":-32(?:0[0-4]\d|60\d|700)\b|result"|isError"|resultType":"(?:complete|input_required)"|requestState"|nextCursor"|method":"(?:notifications\/message|notifications\/progress|elicitation\/create)")/g

/** The structure of an answer: the beginning of its message, which is never the client's, and its members. */
function shapeOf(text: string): string {
  const message = /"message":"(\w+ \w+)/.exec(text)?.[1]
  const members = new Set(text.slice(0, 5000).match(MEMBERS))
  return `${message} ${[...members].sort().join(' ')}`
}

function checkHeaders(headers: Headers, sent: Sent): void {
  for (const [name, value] of headers) {
    promise(HEADER_NAMES.has(name), `the answer has a header ${name}`)
    promise(/^[\x20-\x7e]*$/.test(value), `the header ${name} holds ${JSON.stringify(value)}`)
  }
  const challenge = headers.get('www-authenticate')
  if (challenge !== null) {
    promise(CHALLENGE.test(challenge), `the challenge is malformed: ${challenge}`)
    checkUrl(/resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? '')
  }
  const session = headers.get('mcp-session-id')
  promise(
    session === null || session !== sent.headers.get('mcp-session-id'),
    'the session id is the one sent',
  )
}

/** A URL that every client reads as the same one. */
export function checkUrl(url: string): void {
  promise(URL.canParse(url), `no URL: ${url}`)
  promise(new URL(url).href === url, `a URL that is read as another one: ${url}`)
}

function checkStream(text: string, sent: Sent): void {
  promise(text.endsWith('\n\n'), 'the stream ends within an event')
  const messages: Json[] = []
  for (const event of text.split('\n\n').slice(0, -1)) {
    if (event === ': keep-alive') continue
    const data = /^event: message\ndata: ([^\r\n]*)$/.exec(event)?.[1]
    promise(data !== undefined, `an event that is none of ours: ${JSON.stringify(event.slice(0, 100))}`)
    messages.push(JSON.parse(data) as Json)
  }
  const last = messages.pop()
  promise(last !== undefined, 'the stream holds no answer')
  for (const message of messages) {
    promise(typeof message.method === 'string' && !('result' in message), 'a second answer in the stream')
  }
  checkMessage(last, 200, readSent(sent))
}

function checkJson(value: unknown, status: number, sent: Sent): void {
  const asked = readSent(sent)
  if (!Array.isArray(value)) {
    checkMessage(value as Json, status, asked)
    return
  }
  promise(Array.isArray(asked), 'a single message was answered with a batch')
  const requests = asked.filter((one) => idOf(one) !== undefined)
  promise(value.length === requests.length, `${requests.length} requests have ${value.length} answers`)
  for (const [index, answer] of value.entries()) checkMessage(answer, status, requests[index])
}

function readSent({ body }: Sent): unknown {
  try {
    return JSON.parse(fromBytes(body))
  } catch {
    return undefined
  }
}

/** The id that an answer to this message has; undefined if it is not a request. */
function idOf(message: unknown): string | number | undefined {
  if (message === null || typeof message !== 'object') return undefined
  const { id, method } = message as Json
  if (typeof method !== 'string') return undefined
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : undefined
}

/** Refusals of the whole body come before any id is read. */
const UNREAD = [400, 401, 403, 408, 413, 415, 429]

function checkMessage(message: Json, status: number, asked: unknown): void {
  const { jsonrpc, id, result, error } = message
  promise(jsonrpc === '2.0', 'the answer is no JSON-RPC 2.0')
  promise(
    (result === undefined) !== (error === undefined),
    'the answer has both or neither of result and error',
  )
  const expected = idOf(asked)
  if (id === undefined) {
    promise(
      error !== undefined && (expected === undefined || UNREAD.includes(status)),
      'the answer has no id',
    )
  } else {
    promise(
      id === expected,
      `the answer is for ${JSON.stringify(id)}, the request was ${JSON.stringify(expected)}`,
    )
  }
  if (error !== undefined) {
    checkError(error as Json)
    return
  }
  promise(status === 200, `a result with status ${status}`)
  checkEcho(result as Json, asked as Json)
}

function checkError({ code, message }: Json): void {
  promise(Number.isInteger(code) && typeof message === 'string', 'the error has no code or no message')
  promise(message !== 'Internal error', 'an internal error')
}

/** A tool must get what the client sent, and the client what the tool returned. */
function checkEcho({ structuredContent, isError, resultType }: Json, { method, params }: Json): void {
  const { name, arguments: args = {} } = (params ?? {}) as Json
  if (method !== 'tools/call' || name !== 'echo' || isError === true || resultType === 'input_required')
    return
  // The member with which a legacy client continues a call is not an argument of the tool.
  if (Object.hasOwn(args as object, '_continue')) return
  const given = JSON.parse(JSON.stringify(args, keepInfinite))
  promise(
    isDeepStrictEqual(JSON.parse(JSON.stringify(structuredContent)), given),
    'the arguments came back as others',
  )
}

/** JSON has no infinite numbers, but `1e400` is parsed as one. */
function keepInfinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}
