/**
 * The POST of an event, without Node's `Request`. It has all members of one: what an ordinary call does not use comes from a real one,
 * which is created then. `new Request(it)` refuses it, so user code receives the real one.
 */
import { EventHeaders } from './event-headers.ts'

const USED = 'The body was already read.'

export class EventPost implements Request {
  readonly url: string
  readonly method = 'POST'
  readonly headers: EventHeaders
  readonly #bytes: Uint8Array<ArrayBuffer>
  #isRead = false
  #signal: AbortSignal | undefined
  #real: Request | undefined

  constructor(url: string, headers: ReadonlyMap<string, string>, bytes: Uint8Array<ArrayBuffer>) {
    this.url = url
    this.headers = new EventHeaders(headers)
    this.#bytes = bytes
  }

  /** Always the same one. Its body is empty if it was read before. */
  toReal(): Request {
    const { url, method, headers, signal } = this
    this.#real ??= new Request(url, { method, headers, signal, body: this.#isRead ? null : this.#bytes })
    return this.#real
  }

  /** Never aborts: Lambda does not report disconnects. */
  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal
    return this.#signal
  }

  get bodyUsed(): boolean {
    return this.#isRead || this.#real?.bodyUsed === true
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#real !== undefined || this.#isRead) return this.#unread().arrayBuffer()
    this.#isRead = true
    const { buffer, byteOffset, byteLength } = this.#bytes
    return buffer.slice(byteOffset, byteOffset + byteLength)
  }

  async blob(): Promise<Blob> {
    return this.#unread().blob()
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#unread().bytes()
  }

  async formData(): Promise<FormData> {
    return this.#unread().formData()
  }

  async json(): Promise<unknown> {
    return this.#unread().json()
  }

  async text(): Promise<string> {
    return this.#unread().text()
  }

  clone(): Request {
    return this.#unread().clone()
  }

  /** @throws TypeError if the body was already read. */
  #unread(): Request {
    if (this.bodyUsed) throw new TypeError(USED)
    return this.toReal()
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.toReal().body
  }

  get cache(): RequestCache {
    return this.toReal().cache
  }

  get credentials(): RequestCredentials {
    return this.toReal().credentials
  }

  get destination(): RequestDestination {
    return this.toReal().destination
  }

  /** Missing in the types of `Request`. */
  get duplex(): unknown {
    return Reflect.get(this.toReal(), 'duplex')
  }

  get integrity(): string {
    return this.toReal().integrity
  }

  get keepalive(): boolean {
    return this.toReal().keepalive
  }

  get mode(): RequestMode {
    return this.toReal().mode
  }

  get redirect(): RequestRedirect {
    return this.toReal().redirect
  }

  get referrer(): string {
    return this.toReal().referrer
  }

  get referrerPolicy(): ReferrerPolicy {
    return this.toReal().referrerPolicy
  }
}
