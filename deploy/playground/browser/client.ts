/**
 * A client for both eras, whose messages the page shows: MCP 2026-07-28 without sessions, and 2025-11-25 after `initialize`.
 *
 * `connect` introduces the client, `request` handles all rounds until there is a result, `list` reads all pages.
 */
import { isA, textOf } from '../../../src/definition/error-text.ts'
import {
  type Answer,
  type Exchange,
  exchange,
  NoMessage,
  RpcError,
  resultOf,
  SignInNeeded,
} from './exchange.ts'
import { asList, asObject, asText, isObject, type Json, MAX_ITEMS, pretty } from './json.ts'
import { encodeHeader, paramHeaders } from './param-headers.ts'

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

export type Era = 'modern' | 'legacy'

export interface Settings {
  readonly era: Era
  readonly capabilities: Json
  /** Where requests are sent. */
  readonly url: string
  /** An access token. */
  readonly token?: string | undefined
  /** For the local process that forwards messages. */
  readonly hiddenHeaders: Readonly<Record<string, string>>
}

export interface Hooks {
  readonly onExchange: (exchange: Exchange) => void
  /** Resolves with the result for a request from the server. */
  readonly answer: (method: string, params: Json, signal: AbortSignal) => Promise<Json>
}

/** Follows one request. */
export interface Watch {
  /** Each message that belongs to it, with its size in bytes. */
  readonly onMessage: (message: Json, bytes: number) => void
  /** True for each question that waits for the user, false once it does not. */
  readonly onAsking: (isOpen: boolean) => void
  /** The server's own id of the request, if it tells one. */
  readonly onRequestId: (requestId: string) => void
}

const META = 'io.modelcontextprotocol/'
const CLIENT_INFO = { name: 'mayfly-playground', version: '1.0.0' }
const INTERNAL_ERROR = -32603
const MAX_ROUNDS = 50
const MAX_PAGES = 20
/** Requests from the server during one call of a legacy client. */
const MAX_QUESTIONS = 50
/** The parameter that `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

export class Client {
  readonly settings: Settings
  readonly #hooks: Hooks
  #ids = 0
  #session: string | undefined
  #version: string

  constructor(settings: Settings, hooks: Hooks) {
    this.settings = settings
    this.#hooks = hooks
    this.#version = settings.era === 'modern' ? MODERN : LEGACY
  }

  /** Of the protocol; after `initialize` that of the server. */
  get version(): string {
    return this.#version
  }

  /** The server's description: `server/discover`, or `initialize` and its notification. */
  async connect(signal: AbortSignal): Promise<Json> {
    if (this.settings.era === 'modern') return this.request('server/discover', {}, signal)
    const declared = {
      protocolVersion: LEGACY,
      capabilities: this.settings.capabilities,
      clientInfo: CLIENT_INFO,
    }
    const result = await this.request('initialize', declared, signal)
    this.#version = asText(result.protocolVersion) ?? LEGACY
    await this.#send({ method: 'notifications/initialized' }, signal)
    return result
  }

  /** All items of a list. Empty if the server does not have this list. */
  async list(method: string, member: string, signal: AbortSignal): Promise<Json[]> {
    const items: Json[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS; page++) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor }, signal)
      items.push(...asList(result[member]).filter(isObject))
      cursor = asText(result.nextCursor)
      if (cursor === undefined) break
    }
    return items.slice(0, MAX_ITEMS)
  }

  /** `schema`: the schema of the tool's arguments, which says which of them are repeated in headers. */
  async request(
    method: string,
    params: Json,
    signal: AbortSignal,
    schema?: unknown,
    watch?: Watch,
  ): Promise<Json> {
    let round = params
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      const result = await this.#once(method, round, signal, schema, watch)
      if (result.resultType !== 'input_required') return result
      const inputResponses = await this.answerAll(asObject(result.inputRequests), signal, watch)
      const { requestState } = result
      round = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
    }
    throw new Error(`the server asked ${MAX_ROUNDS} times: this page stops here`)
  }

  /** What `request` would send, without questions. */
  draft(
    method: string,
    params: Json,
    schema?: unknown,
  ): { readonly body: Json; readonly headers: Readonly<Record<string, string>> } {
    return this.#dress({ id: 1, method, params }, schema)
  }

  /**
   * Listens (`subscriptions/listen`) until the server ends the stream: `onMessage` gets the notifications. Only in the modern era. Rejects
   * if the server refuses, and with the limits of one response.
   */
  async listen(notifications: Json, signal: AbortSignal, onMessage: (message: Json) => void): Promise<void> {
    const id = ++this.#ids
    let answer: Json | undefined
    const take = (message: Json): void => {
      if (message.id === id || message.error !== undefined) answer = message
      else if (message.id === undefined) onMessage(message)
    }
    const message = { id, method: 'subscriptions/listen', params: { notifications } }
    const response = await this.#send(message, signal, take)
    if (answer !== undefined) resultOf(answer)
    else if (response.status !== 200) throw new NoMessage(response)
  }

  /** Asks the user, and returns the answers by key. */
  async answerAll(questions: Json, signal: AbortSignal, watch?: Watch): Promise<Json> {
    const asked = Object.entries(questions).slice(0, MAX_QUESTIONS)
    const answers = asked.map(async ([key, question]) => {
      const { method, params } = asObject(question)
      return [key, await this.#ask(String(method), asObject(params), signal, watch)] as const
    })
    return Object.fromEntries(await Promise.all(answers))
  }

  async #ask(method: string, params: Json, signal: AbortSignal, watch?: Watch): Promise<Json> {
    watch?.onAsking(true)
    try {
      return await this.#hooks.answer(method, params, signal)
    } finally {
      watch?.onAsking(false)
    }
  }

  async #once(
    method: string,
    params: Json,
    signal: AbortSignal,
    schema: unknown,
    watch?: Watch,
  ): Promise<Json> {
    const id = ++this.#ids
    const found: { message?: Json } = {}
    let questions = 0
    const onMessage = (message: Json, bytes: number): void => {
      watch?.onMessage(message, bytes)
      if (typeof message.method === 'string' && message.id !== undefined) {
        if (++questions <= MAX_QUESTIONS) void this.#answerAside(message, signal, watch)
      } else if (message.id === id || (message.id === null && message.error !== undefined))
        found.message = message
    }
    const cancel = (): void => this.#cancel(id)
    if (this.settings.era === 'legacy' && method !== 'initialize') signal.addEventListener('abort', cancel)
    try {
      const answer = await this.#send({ id, method, params }, signal, onMessage, schema)
      const { status, headers, body } = answer
      const requestId = headers.get('x-request-id')
      if (requestId !== null) watch?.onRequestId(requestId)
      if (method === 'initialize') this.#session = headers.get('mcp-session-id') ?? undefined
      const challenge = headers.get('www-authenticate')
      if (status === 401 || (status === 403 && challenge !== null))
        throw new SignInNeeded(status, challenge ?? '', body)
      if (found.message === undefined) throw new NoMessage(answer)
      return resultOf(found.message)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  /** A legacy server asks on the stream of a call, and gets the answer in a separate request. */
  async #answerAside({ id, method, params }: Json, signal: AbortSignal, watch?: Watch): Promise<void> {
    try {
      const result = await this.#ask(String(method), asObject(params), signal, watch)
      await this.#send({ id, result }, signal)
    } catch (error) {
      if (signal.aborted) return
      const refusal = {
        code: isA(error, RpcError) ? error.code : INTERNAL_ERROR,
        message: textOf(error),
      }
      await this.#send({ id, error: refusal }, signal).catch(() => {})
    }
  }

  /** In the modern era, closing the connection cancels it. */
  #cancel(requestId: number): void {
    const notification = {
      method: 'notifications/cancelled',
      params: { requestId, reason: 'cancelled by the user' },
    }
    this.#send(notification, AbortSignal.timeout(5000)).catch(() => {})
  }

  async #send(
    message: Json,
    signal: AbortSignal,
    onMessage: (message: Json, bytes: number) => void = () => {},
    schema?: unknown,
  ): Promise<Answer> {
    const { url, hiddenHeaders, token } = this.settings
    const { body, headers } = this.#dress(message, schema)
    const { name, uri } = asObject(message.params)
    return exchange({
      label: [message.method ?? 'response', asText(name) ?? asText(uri)].filter(Boolean).join(' '),
      url,
      headers,
      hiddenHeaders: { ...hiddenHeaders, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body,
      signal,
      onChange: this.#hooks.onExchange,
      onMessage,
    })
  }

  #dress(message: Json, schema: unknown): { body: Json; headers: Record<string, string> } {
    const { token } = this.settings
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: 'Bearer •••' }),
    }
    const body = { jsonrpc: '2.0', ...message }
    const params = asObject(message.params)
    const progress = message.id !== undefined &&
      message.method === 'tools/call' && { progressToken: message.id }
    if (message.method !== 'initialize') headers['mcp-protocol-version'] = this.#version
    if (this.settings.era === 'legacy') {
      if (this.#session !== undefined) headers['mcp-session-id'] = this.#session
      return { body: progress ? { ...body, params: { ...params, _meta: progress } } : body, headers }
    }
    const method = String(message.method)
    headers['mcp-method'] = method
    const name = asText(params[NAMED[method] ?? ''])
    if (name !== undefined) headers['mcp-name'] = encodeHeader(name)
    Object.assign(headers, paramHeaders(schema, asObject(params.arguments)))
    const meta = {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: CLIENT_INFO,
      [`${META}clientCapabilities`]: this.settings.capabilities,
      ...(method === 'tools/call' && { [`${META}logLevel`]: 'debug' }),
      ...progress,
    }
    return { body: { ...body, params: { ...params, _meta: meta } }, headers }
  }
}

/** Whether the answer to `server/discover` is that of a legacy server, which knows neither the method nor the version. */
export function isLegacyAnswer(error: unknown): boolean {
  if (isA(error, RpcError)) return error.code !== INTERNAL_ERROR
  return isA(error, NoMessage) && error.status >= 400 && error.status < 500
}

/** The message of a server's error, for people. */
export function explain(error: unknown): string {
  if (!isA(error, RpcError)) return textOf(error)
  return error.data === undefined ? error.message : `${error.message}\n${pretty(error.data)}`
}
