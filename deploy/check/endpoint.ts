/** The server under test: what is known about it, and how to send it requests in either era. */
import { isA } from '../../src/definition/error-text.ts'
import { isLocalHost } from './addresses.ts'
import type { Contact } from './contact.ts'
import type { Answer } from './http.ts'
import {
  type Call,
  type Era,
  initializeMessage,
  legacyMessage,
  type Message,
  MODERN,
  modernMessage,
} from './messages.ts'
import { NEEDS_TOKEN, REFUSED_TOKEN, Stop, skipped } from './outcome.ts'
import type { Reply } from './reply.ts'
import type { Sending, Wire } from './wire.ts'

/** More sessions than a check opens. */
const MAX_SESSIONS = 20

export type Asked = Reply & { readonly id: string | number }

/** A call, and how to send it. */
export type Asking = Call & How

type How = Partial<Pick<Sending, 'isEnough' | 'timeoutMs' | 'agent' | 'credentials' | 'statuses'>>

export class Endpoint {
  readonly wire: Wire
  readonly contact: Contact
  /** The origin of a web page, for CORS. */
  readonly origin: string

  constructor(wire: Wire, contact: Contact, origin: string) {
    this.wire = wire
    this.contact = contact
    this.origin = origin
  }

  get url(): URL {
    return this.wire.options.url
  }

  /** Whether it runs on this machine, according to its URL. */
  get isLocal(): boolean {
    return isLocalHost(this.url.hostname)
  }

  /** Why nothing can be asked of a server that answers 401. */
  get whyLocked(): string {
    return this.wire.options.bearer === undefined ? NEEDS_TOKEN : REFUSED_TOKEN
  }

  /** The preferred era. Throws `Stop` if the server supports none. */
  get era(): Era {
    const { isModern, isLegacy, isLocked } = this.contact
    if (isModern || isLegacy) return isModern ? 'modern' : 'legacy'
    throw new Stop(skipped(isLocked ? this.whyLocked : 'this URL does not answer MCP'))
  }

  /** The eras that the server supports. Throws `Stop` if it supports none. */
  get eras(): Era[] {
    void this.era
    const { isModern, isLegacy } = this.contact
    return [...(isModern ? ['modern' as const] : []), ...(isLegacy ? ['legacy' as const] : [])]
  }

  /** Throws `Stop` if the server does not support the era. */
  requireEra(era: Era): void {
    if (!this.eras.includes(era)) throw new Stop(skipped(`no ${era} server`))
  }

  /** Sends a request in an era, in the session if there is one. Throws `Stop` like `Wire.send`. */
  async ask(era: Era, asking: Asking): Promise<Asked> {
    const { wire, contact } = this
    const message =
      era === 'modern'
        ? modernMessage(asking, wire.freshId())
        : legacyMessage(asking, wire.freshId(), contact.session)
    return this.#send(`${asking.method} (${era})`, message, asking)
  }

  /** The cheapest request, in the preferred era. */
  askLittle(asking: Omit<Asking, 'method'> = {}): Promise<Asked> {
    const { era } = this
    return this.ask(era, { ...asking, method: era === 'modern' ? 'server/discover' : 'ping' })
  }

  initialize(version: string): Promise<Asked> {
    return this.#send(`initialize (${version})`, initializeMessage(version, this.wire.freshId()), {})
  }

  /** The unsent cheapest request, for probes that change one part of it. */
  little(): Message {
    const { wire, contact, era } = this
    return era === 'modern'
      ? modernMessage({ method: 'server/discover' }, wire.freshId())
      : legacyMessage({ method: 'ping' }, wire.freshId(), contact.session)
  }

  /** The same. If a token is missing, the era is unknown, and this returns a first request. */
  greeting(): Message {
    return this.contact.isLocked
      ? modernMessage({ method: 'server/discover' }, this.wire.freshId())
      : this.little()
  }

  /** Sends any body with the headers of a correct message. */
  async post(label: string, body: string, headers: { readonly [name: string]: string } = {}): Promise<Reply> {
    const proper = this.little().headers
    return this.wire.ask({ label, body, headers: { ...proper, ...headers } })
  }

  /** Sends another HTTP method than POST. */
  async request(
    method: string,
    headers: { readonly [name: string]: string },
    more: Partial<Sending> = {},
  ): Promise<Answer> {
    return this.wire.send({ label: method, method, headers, ...more })
  }

  /** Ends the opened sessions, as a client should, until the server answers that it does not support it. */
  async close(): Promise<void> {
    this.wire.startClosing()
    const ids = this.wire.seen.map(({ headers }) => headers.get('mcp-session-id'))
    const version = this.contact.session?.version ?? MODERN
    const opened = [...new Set(ids)].filter((id) => id !== null)
    for (const id of opened.slice(0, MAX_SESSIONS)) {
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version }
      const isEnded = await this.wire
        .send({ label: 'DELETE', method: 'DELETE', headers, statuses: 'any', isEnough: () => true })
        .then(({ status }) => status !== 405)
        .catch(ignoreStop)
      if (!isEnded) return
    }
  }

  async #send(label: string, { headers, body, id }: Message, how: How): Promise<Asked> {
    const { isEnough, timeoutMs, agent, credentials, statuses } = how
    const reply = await this.wire.ask({
      label,
      headers,
      body,
      id,
      ...(isEnough && { isEnough }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(agent && { agent }),
      ...(credentials && { credentials }),
      ...(statuses && { statuses }),
    })
    return { ...reply, id }
  }
}

function ignoreStop(error: unknown): false {
  if (isA(error, Stop)) return false
  throw error
}
