/**
 * One client: it calls, pauses, and calls again, and checks that each answer is its own.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Aborted, type Connection, connect, type Json, type Reply } from './wire.ts'

const META = 'io.modelcontextprotocol/'
const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'

/** Milliseconds of one window. */
const WINDOW_MS = 2000

/** What is counted of all clients. */
export interface Tally {
  /** Calls, by kind. */
  readonly calls: Map<string, number>
  /** Milliseconds that plain calls took, once the load is steady, by windows of `WINDOW_MS`. */
  readonly plainMs: Map<number, number[]>
  readonly wrong: string[]
  readonly errors: string[]
  aborted: number
  isSteady: boolean
}

export function createTally(): Tally {
  return { calls: new Map(), plainMs: new Map(), wrong: [], errors: [], aborted: 0, isSteady: false }
}

/** The answer belongs to another call, or is one that the server should not give. */
class Wrong extends Error {}

type Kind = (client: Client) => Promise<unknown>

/** How many of 100 calls are of this kind. */
const MIX: readonly (readonly [name: string, share: number, kind: Kind])[] = [
  ['plain, modern', 28, (client) => client.plain('modern')],
  ['plain, legacy', 24, (client) => client.plain('legacy')],
  ['list', 8, (client) => client.list()],
  ['resource', 10, (client) => client.resource()],
  ['streamed', 10, (client) => client.streamed()],
  ['aborted', 8, (client) => client.abort()],
  ['suspended', 10, (client) => client.suspended()],
  ['suspended, never answered', 2, (client) => client.leaveUnanswered()],
]

const KINDS = MIX.flatMap(([name, share, kind]) => Array.from({ length: share }, () => [name, kind] as const))

export class Client {
  readonly #name: string
  readonly #connection: Connection
  readonly #tally: Tally
  #sessionId: string | undefined
  #calls = 0

  constructor(name: string, url: URL, tally: Tally) {
    this.#name = name
    this.#connection = connect(url)
    this.#tally = tally
  }

  /** Connects, and declares itself. */
  async greet(): Promise<void> {
    const { sessionId } = await this.#call('legacy', 'initialize', {
      protocolVersion: LEGACY,
      capabilities: {},
      clientInfo: { name: this.#name, version: '1' },
    })
    if (sessionId === undefined) throw new Error('The server gives no session id.')
    this.#sessionId = sessionId
  }

  /** Calls until it is told to end, with a pause of `thinkMs` on average after each call. */
  async run(thinkMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [name, kind] = KINDS[Math.floor(Math.random() * KINDS.length)]!
      try {
        await kind(this)
        this.#tally.calls.set(name, (this.#tally.calls.get(name) ?? 0) + 1)
      } catch (error) {
        const list = error instanceof Wrong ? this.#tally.wrong : this.#tally.errors
        list.push(`${name}: ${error instanceof Error ? error.message : error}`)
      }
      await delay(thinkMs * (0.5 + Math.random()))
    }
    this.#connection.close()
  }

  async plain(era: 'modern' | 'legacy'): Promise<void> {
    const nonce = this.#nonce()
    const startedAt = performance.now()
    const reply = await this.#call(era, 'tools/call', { name: 'echo', arguments: { nonce } })
    if (this.#tally.isSteady) this.#record(startedAt, performance.now())
    expect(structured(reply), { nonce, client: this.#name })
  }

  #record(startedAt: number, endedAt: number): void {
    const { plainMs } = this.#tally
    const window = Math.floor(endedAt / WINDOW_MS)
    const took = plainMs.get(window) ?? []
    plainMs.set(window, took)
    took.push(endedAt - startedAt)
  }

  async list(): Promise<void> {
    const { result } = last(await this.#call('modern', 'tools/list', {}))
    const names = ((result as Json).tools as Json[]).map(({ name }) => name)
    expect(names, ['echo', 'count', 'order', 'wait', 'waiting'])
  }

  async resource(): Promise<void> {
    const uri = `notes://${this.#nonce()}`
    const { result } = last(await this.#call('modern', 'resources/read', { uri }))
    expect((result as Json).contents, [{ uri, text: uri.replace('notes://', 'note ') }])
  }

  async streamed(): Promise<void> {
    const nonce = this.#nonce()
    const params = { name: 'count', arguments: { nonce } }
    const reply = await this.#call('modern', 'tools/call', params, { progressToken: nonce })
    const progress = reply.messages.slice(0, -1).map(({ params }) => params as Json)
    if (progress.length < 2) throw new Wrong(`${progress.length} notifications in a stream`)
    for (const { progressToken, message } of progress) expect([progressToken, message], [nonce, nonce])
    expect(progress.at(-1)!.progress, 3)
    expect(structured(reply), { nonce })
  }

  async abort(): Promise<void> {
    const nonce = this.#nonce()
    const isStream = Math.random() < 0.5
    const params = { name: isStream ? 'count' : 'wait', arguments: { nonce } }
    const afterMs = 5 + Math.random() * (isStream ? 40 : 100)
    try {
      await this.#call('modern', 'tools/call', params, isStream ? { progressToken: nonce } : {}, afterMs)
    } catch (error) {
      if (!(error instanceof Aborted)) throw error
      this.#tally.aborted++
      return
    }
    if (!isStream) throw new Wrong('a call that waits for its client to go has ended before')
  }

  async suspended(): Promise<void> {
    const { params, requestState, key } = await this.leaveUnanswered()
    const { nonce } = params.arguments
    const content = { word: `${nonce} indeed` }
    const inputResponses = { [key]: { action: 'accept', content } }
    const reply = await this.#call('modern', 'tools/call', { ...params, requestState, inputResponses })
    expect(structured(reply), { nonce, step: nonce, ...content })
  }

  async leaveUnanswered() {
    const nonce = this.#nonce()
    const params = { name: 'order', arguments: { nonce } }
    const { result } = last(await this.#call('modern', 'tools/call', params))
    const { resultType, inputRequests, requestState } = result as Json
    expect(resultType, 'input_required')
    const [[key, question] = ['']] = Object.entries(inputRequests as { [key: string]: { params: Json } })
    expect(question?.params.message, `Order ${nonce}?`)
    return { params, requestState, key }
  }

  /** Calls that still wait at the server, of other clients or of clients that have gone. */
  async stillWaiting(): Promise<number> {
    const reply = await this.#call('modern', 'tools/call', { name: 'waiting', arguments: {} })
    return (structured(reply) as { waiting: number }).waiting
  }

  close(): void {
    this.#connection.close()
  }

  async #call(
    era: 'modern' | 'legacy',
    method: string,
    params: Json,
    meta: Json = {},
    abortAfterMs?: number,
  ): Promise<Reply> {
    const id = `${this.#name}:${this.#calls++}`
    const [sentParams, headers] =
      era === 'modern' ? this.#modern(method, params, meta) : [params, this.#legacyHeaders()]
    const body = { jsonrpc: '2.0', id, method, params: sentParams }
    const reply = await this.#connection.post(body, headers, abortAfterMs)
    if (reply.status !== 200) throw new Error(`status ${reply.status}: ${JSON.stringify(reply.messages)}`)
    expect(last(reply).id, id)
    if (last(reply).result === undefined) throw new Error(JSON.stringify(last(reply).error))
    return reply
  }

  #modern(method: string, params: Json, meta: Json): [Json, { readonly [name: string]: string }] {
    const _meta = {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: { name: this.#name, version: '1' },
      [`${META}clientCapabilities`]: { elicitation: { form: {} } },
      ...meta,
    }
    const name = params.name ?? params.uri
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method }
    return [{ ...params, _meta }, typeof name === 'string' ? { ...headers, 'mcp-name': name } : headers]
  }

  #legacyHeaders(): { readonly [name: string]: string } {
    const version = { 'mcp-protocol-version': LEGACY }
    return this.#sessionId === undefined ? version : { ...version, 'mcp-session-id': this.#sessionId }
  }

  #nonce(): string {
    return `${this.#name}-${this.#calls}-${Math.random().toString(36).slice(2)}`
  }
}

function last({ messages }: Reply): Json {
  return messages.at(-1) ?? {}
}

function structured(reply: Reply): unknown {
  return (last(reply).result as Json).structuredContent
}

/** @throws Wrong unless they are the same. */
function expect(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Wrong(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}
