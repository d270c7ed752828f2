/**
 * A POST without Node's `Request`, whose first use costs as much CPU as all else of a first call. It has all members of one: what an
 * ordinary call does not use comes from a real one, which is created then. `new Request(it)` refuses it, so user code receives a real one.
 */
import { PlainHeaders } from './plain-headers.ts'

const USED = 'The body was already read.'

/** Where the body and the signal of a request come from. */
export interface Source {
  /** Reads the body. Called at most once. */
  read(): Promise<ArrayBuffer>
  /** The body for a real `Request`, instead of `read`. */
  toBody(): BodyInit
  /** Called at most once. */
  toSignal(): AbortSignal
}

export class PlainPost implements Request {
  readonly url: string
  readonly method = 'POST'
  readonly headers: PlainHeaders
  readonly #source: Source
  #isRead = false
  #signal: AbortSignal | undefined
  #real: Request | undefined

  constructor(url: string, headers: ReadonlyMap<string, string>, source: Source) {
    this.url = url
    this.headers = new PlainHeaders(headers)
    this.#source = source
  }

  /** Always the same one. Its body is empty if it was read before. */
  toReal(): Request {
    if (this.#real === undefined) {
      const { url, method, headers, signal } = this
      // Node asks for `duplex` where the body is a stream; the types do not know it.
      const init = {
        method,
        headers,
        signal,
        body: this.#isRead ? null : this.#source.toBody(),
        duplex: 'half',
      }
      this.#real = new Request(url, init)
    }
    return this.#real
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#source.toSignal()
    return this.#signal
  }

  get bodyUsed(): boolean {
    return this.#isRead || this.#real?.bodyUsed === true
  }

  /** Of an ordinary call, so without a promise more. */
  arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#real !== undefined || this.#isRead) return this.#realBuffer()
    this.#isRead = true
    return this.#source.read()
  }

  async #realBuffer(): Promise<ArrayBuffer> {
    return this.#unread().arrayBuffer()
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
