/** One HTTP request by hand, so that its Host can lie and its body can stop halfway; its answer is read as it arrives. */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'

/** A JSON-RPC message as it came. */
export interface WireMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

export interface HttpRequest {
  readonly port: number
  readonly method?: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body?: string
  /** The second half of the body never comes. */
  readonly holdsBody?: boolean
}

export class Exchange {
  readonly messages: WireMessage[] = []
  /** Data of events that are no message: where HTTP+SSE takes them. */
  endpoint: string | undefined
  status: number | undefined
  headers: IncomingHttpHeaders = {}
  text = ''
  /** Resolves when the answer has ended, however. */
  readonly done: Promise<void>
  readonly #request: ClientRequest
  readonly #waiting = new Set<() => void>()
  #isOver = false

  constructor({ port, method = 'POST', path, headers, body, holdsBody = false }: HttpRequest) {
    const bytes = Buffer.from(body ?? '')
    const length = body === undefined ? undefined : String(bytes.length)
    const sent = Object.entries({ 'content-length': length, ...headers })
    this.#request = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: Object.fromEntries(sent.filter(([, value]) => value !== undefined)),
      agent: false,
    })
    this.done = new Promise((resolve) => {
      const end = (): void => {
        this.#isOver = true
        this.#wake()
        resolve()
      }
      this.#request.once('response', (response) => this.#read(response, end))
      this.#request.once('error', end)
      this.#request.once('close', end)
    })
    if (holdsBody) this.#request.write(bytes.subarray(0, bytes.length / 2))
    else this.#request.end(bytes)
  }

  /** The first message that is what is looked for; undefined where the answer ends without it. */
  async find(isIt: (message: WireMessage) => boolean): Promise<WireMessage | undefined> {
    for (;;) {
      const found = this.messages.find(isIt)
      if (found !== undefined || this.#isOver) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** As a client that goes away. */
  destroy(): void {
    this.#request.destroy()
  }

  #read(response: IncomingMessage, end: () => void): void {
    this.status = response.statusCode
    this.headers = response.headers
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event === 'endpoint') this.endpoint = data
        else if (data !== '') this.messages.push(JSON.parse(data) as WireMessage)
      },
    })
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
    this.#wake()
    response.setEncoding('utf8')
    response.on('error', end)
    response.on('data', (text: string) => {
      this.text += text
      if (isStream) parser.feed(text)
      this.#wake()
    })
    response.on('end', () => {
      const isJson = response.headers['content-type'] === 'application/json'
      if (isJson && this.text !== '') this.messages.push(...([JSON.parse(this.text)].flat() as WireMessage[]))
      end()
    })
  }

  /** Resolves once anything has arrived that makes `holds` true, or the answer has ended. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#isOver) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
