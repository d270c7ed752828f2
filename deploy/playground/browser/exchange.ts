/** One HTTP request and its response, recorded as it happens. */
import { textOf } from '../../../src/definition/error-text.ts'
import { createEventReader } from '../../../src/protocol/event-stream.ts'
import { asObject, clip, isObject, type Json, parse, sourceAt } from './json.ts'

/** What the page shows of a request and its response, filled as data arrives. */
export interface Exchange {
  readonly label: string
  readonly method: string
  readonly url: string
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBody: unknown
  /** Milliseconds since the page was opened. */
  readonly startedAt: number
  status?: number
  responseHeaders?: readonly (readonly [string, string])[]
  /** Milliseconds until the headers and until the end of the response. */
  headersMs?: number
  totalMs?: number
  readonly events: { readonly atMs: number; readonly data: string }[]
  /** The body of a response that is not an event stream. */
  body?: string
  /** Bytes of the response's body. */
  bytes: number
  /** What the last message says that is neither a notification nor a result as usual. */
  outcome?: Outcome | undefined
  problem?: string
}

/** `asks`: the call waits for an answer to the server's question. `cancelled`: by this page. */
export type Outcome = 'failed' | 'asks' | 'task' | 'cancelled'

export interface Ask {
  readonly label: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Not shown: the secret of the local process. */
  readonly hiddenHeaders: Readonly<Record<string, string>>
  readonly body: Json
  readonly signal: AbortSignal
  /** Called after each change of the record. */
  readonly onChange: (exchange: Exchange) => void
  /** Each JSON-RPC message of the response, with its size in bytes. */
  readonly onMessage: (message: Json, bytes: number) => void
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The body, unless it is an event stream. */
  readonly body: string
}

const MAX_BODY = 16_000_000
const MAX_EVENTS = 2000
/** Below what the local process accepts. */
const MAX_HEADER_BYTES = 200_000

/** Sends one JSON-RPC message and reads the whole response. Rejects if there is none or it exceeds the limits. */
export async function exchange(ask: Ask): Promise<Answer> {
  const started = performance.now()
  const record: Exchange = {
    label: ask.label,
    method: 'POST',
    url: ask.url,
    requestHeaders: ask.headers,
    requestBody: ask.body,
    startedAt: started,
    events: [],
    bytes: 0,
  }
  ask.onChange(record)
  try {
    const bytes = Object.entries(ask.headers).flat().join('').length
    if (bytes > MAX_HEADER_BYTES)
      throw new Error(
        `the headers have ${bytes} bytes, and this page sends at most ${MAX_HEADER_BYTES}: shorten the arguments that the tool repeats in headers`,
      )
    const response = await fetch(ask.url, {
      method: 'POST',
      headers: { ...ask.headers, ...ask.hiddenHeaders },
      body: JSON.stringify(ask.body),
      signal: ask.signal,
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
    }).catch((error: unknown) => {
      throw ask.signal.aborted ? error : new Unreachable(textOf(error))
    })
    if (response.type === 'opaqueredirect')
      throw new Error('the server redirects: pass the URL that it redirects to')
    record.status = response.status
    record.headersMs = performance.now() - started
    record.responseHeaders = [...response.headers]
    ask.onChange(record)
    await read(response, record, ask, started)
    return { status: response.status, headers: response.headers, body: record.body ?? '' }
  } catch (error) {
    record.outcome = ask.signal.aborted ? 'cancelled' : 'failed'
    record.problem = ask.signal.aborted ? 'cancelled here' : clip(textOf(error), 2000)
    throw error
  } finally {
    record.totalMs = performance.now() - started
    ask.onChange(record)
  }
}

async function read(response: Response, record: Exchange, ask: Ask, started: number): Promise<void> {
  if (response.body === null) return
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const readEvents = createEventReader(({ data }) => {
    record.events.push({ atMs: performance.now() - started, data })
    deliver(data, record, ask)
  })
  const body: string[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    record.bytes += value.byteLength
    if (record.bytes > MAX_BODY || record.events.length > MAX_EVENTS) {
      await reader.cancel()
      throw new Error(
        `the response exceeds the limits of this page (${MAX_BODY} bytes, ${MAX_EVENTS} events)`,
      )
    }
    const text = decoder.decode(value, { stream: true })
    if (!isStream) {
      body.push(text)
      continue
    }
    readEvents(text)
    ask.onChange(record)
  }
  if (isStream) return
  record.body = body.join('')
  deliver(record.body, record, ask)
}

function deliver(text: string, record: Exchange, { onMessage }: Ask): void {
  const message = parse(text)
  if (!isObject(message)) return
  const isNotification = message.method !== undefined && message.id === undefined
  if (!isNotification) record.outcome = outcomeOf(message)
  keepSource(message, ['result'], text)
  onMessage(message, new TextEncoder().encode(text).length)
}

/** The JSON that each result was parsed from, and its path in it. */
const sources = new WeakMap<object, readonly [text: string, path: readonly string[]]>()

/** Of a result, and of the one in it that a task has. */
function keepSource({ result }: Json, path: readonly string[], text: string): void {
  if (!isObject(result)) return
  sources.set(result, [text, path])
  if (path.length === 1) keepSource(result, [...path, 'result'], text)
}

/** The JSON of a result or of its member as the server sent it: parsed numbers may have lost digits. Undefined if it is too long. */
export function sourceOf(result: Json, ...members: readonly string[]): string | undefined {
  const [text, path] = sources.get(result) ?? []
  return text === undefined ? undefined : sourceAt(text, [...path!, ...members])
}

/** What a message from a server says, unless it is a result as usual. */
export function outcomeOf({ method, error, result }: Json): Outcome | undefined {
  if (method !== undefined) return 'asks'
  const { isError, resultType, taskId, status } = asObject(result)
  if (isObject(error) || isError === true || (taskId !== undefined && status === 'failed')) return 'failed'
  if (resultType === 'input_required' || (taskId !== undefined && status === 'input_required')) return 'asks'
  return resultType === 'task' ? 'task' : undefined
}

/** The message of a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: unknown
  readonly data: unknown

  constructor(error: Json) {
    super(`${clip(String(error.code), 20)}: ${clip(String(error.message), 5000)}`)
    this.code = error.code
    this.data = error.data
  }
}

/** No HTTP response. */
export class Unreachable extends Error {}

/** A response without a JSON-RPC message. */
export class NoMessage extends Error {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Whether the local process wrote it, since the server cannot be reached. */
  readonly isLocal: boolean

  constructor({ status, headers, body }: Answer) {
    super(`status ${status}, without a JSON-RPC response`)
    this.status = status
    this.contentType = headers.get('content-type') ?? ''
    this.body = body
    this.isLocal = headers.has('x-mayfly-unreachable')
  }
}

/** The server requires a token, or another one. */
export class SignInNeeded extends Error {
  readonly challenge: string
  readonly body: string

  constructor(status: number, challenge: string, body: string) {
    super(`${status}: the server asks for authorization`)
    this.challenge = challenge
    this.body = body
  }
}

/** Returns the result in a message, or throws its error. */
export function resultOf(message: Json): Json {
  if (isObject(message.error)) throw new RpcError(message.error)
  return asObject(message.result)
}
