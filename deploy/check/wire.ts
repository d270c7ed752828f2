/** The connection to one server: adds the user's headers, records the answers, and gives up on a server that is silent, endless or slow. */

import type { Agent } from 'node:http'
import { isA } from '../../src/definition/error-text.ts'
import { addressIn, guardedLookup, kindOf } from './addresses.ts'
import { type AnswerRecord, toAnswerRecord } from './answer-record.ts'
import type { IsEnough } from './body.ts'
import { type Answer, describeMs, exchange, type HttpRequest, NoAnswer } from './http.ts'
import { NEEDS_TOKEN, REFUSED_TOKEN, Stop, skipped, wrong } from './outcome.ts'
import { type Reply, readReply, untilResponse } from './reply.ts'

export interface WireOptions {
  readonly url: URL
  readonly bearer: string | undefined
  /** The user's headers, for every request to the server's origin. */
  readonly headers: { readonly [name: string]: string }
  /** Time limit of one request. */
  readonly timeoutMs: number
  /** Time limit of all requests. */
  readonly deadlineMs: number
}

export interface Sending {
  /** Describes the request in the record: `an unknown method`. */
  readonly label: string
  /** Default POST. */
  readonly method?: string
  /** Default: the server's. */
  readonly url?: URL
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  /** The id of the request in the body: the answer is complete once its response has come. */
  readonly id?: string | number
  /** Default: stops at the response to `id`, or at any response without an id. */
  readonly isEnough?: IsEnough
  /** Default: the user's. A body that does not end in time counts as silence. */
  readonly timeoutMs?: number
  readonly agent?: Agent
  /** `none`: without `Authorization`. Foreign origins never get it or the user's headers. */
  readonly credentials?: 'bearer' | 'none'
  /** `any`: the caller handles refusals for a missing token or too many requests. */
  readonly statuses?: 'any'
}

/** After this many unanswered requests the rest is skipped; otherwise a dead server would take minutes. */
const MAX_SILENCES = 4
/** Bytes of all answers together. */
const MAX_BYTES = 64 * 1_048_576
/** The part of the total time that is reserved for ending sessions. */
const CLOSING_SHARE = 0.1

export class Wire {
  readonly options: WireOptions
  /** Every answer of the server itself, in order of arrival. */
  readonly seen: AnswerRecord[] = []
  /** Why the rest of the check is skipped; undefined while it continues. */
  givenUp: string | undefined
  #endsAt: number
  #silences = 0
  #bytes = 0
  #lastId = 0
  /** The server's address, once it has answered. */
  #address: string | undefined

  constructor(options: WireOptions) {
    this.options = options
    this.#endsAt = performance.now() + options.deadlineMs * (1 - CLOSING_SHARE)
  }

  freshId(): string {
    this.#lastId += 1
    return `check-${this.#lastId}`
  }

  /** Throws `Stop` without an answer, and for 401, 403 for a missing scope, or 429. */
  async send(sending: Sending): Promise<Answer> {
    return (await this.ask(sending)).answer
  }

  /** Like `send`, with the answer parsed as JSON-RPC. */
  async ask(sending: Sending): Promise<Reply> {
    const { options } = this
    const { label, id } = sending
    const isOwn = (sending.url ?? options.url).origin === options.url.origin
    const limitMs = sending.timeoutMs ?? options.timeoutMs
    const leftMs = this.#timeLeft()
    let answer: Answer
    try {
      answer = await exchange({ ...this.#toRequest(sending, isOwn), timeoutMs: Math.min(limitMs, leftMs) })
    } catch (error) {
      if (!isA(error, NoAnswer)) throw error
      if (error.why === 'timeout' && leftMs < limitMs) this.#timeLeft()
      if (isOwn) this.#silences += 1
      throw new NoAnswerStop(label, error, limitMs)
    }
    this.#bytes += answer.bytes
    if (answer.ended === 'timeout' && leftMs < limitMs) this.#timeLeft()
    if (isOwn && answer.ended === 'timeout' && sending.timeoutMs === undefined) this.#silences += 1
    const reply = readReply(answer, id)
    if (isOwn) {
      this.#address ??= answer.address
      this.seen.push(toAnswerRecord(label, reply))
    }
    if (sending.statuses === undefined) refuseToGoOn(answer, options.bearer !== undefined)
    return reply
  }

  /** Lets later requests use the time reserved for the end. */
  startClosing(): void {
    this.#endsAt += this.options.deadlineMs * CLOSING_SHARE
    this.givenUp = undefined
  }

  /** In milliseconds. Throws `Stop` if the rest is to be skipped. */
  #timeLeft(): number {
    const leftMs = this.#endsAt - performance.now()
    const { deadlineMs } = this.options
    // A timer may fire up to a millisecond early.
    if (leftMs <= 1) this.givenUp ??= `the check took over ${describeMs(deadlineMs)}`
    if (this.#bytes >= MAX_BYTES) this.givenUp ??= `the server sent over ${MAX_BYTES / 1_048_576} MiB`
    if (this.#silences >= MAX_SILENCES) this.givenUp ??= 'too many requests were not answered'
    if (this.givenUp !== undefined) throw new Stop(skipped(`given up: ${this.givenUp}`))
    return leftMs
  }

  #toRequest(sending: Sending, isOwn: boolean): Omit<HttpRequest, 'timeoutMs'> {
    const { method = 'POST', url = this.options.url, body, agent, id } = sending
    const { isEnough = untilResponse(id) } = sending
    const literal = addressIn(url)
    const isAllowed = (address: string): boolean => this.#isAllowed(address)
    if (literal !== undefined && !isAllowed(literal))
      throw new NoAnswerStop(
        sending.label,
        new NoAnswer(`a ${kindOf(literal)} address`, 'address refused'),
        0,
      )
    return {
      method,
      url,
      headers: { ...(isOwn && this.#own(sending.credentials)), ...sending.headers },
      isEnough,
      lookup: guardedLookup(isAllowed),
      ...(body !== undefined && { body }),
      ...(agent && { agent }),
    }
  }

  /** The user chose the server's first address. All others, from its answers or from DNS, must be public or of the same kind. */
  #isAllowed(address: string): boolean {
    if (this.#address === undefined) return true
    const kind = kindOf(address)
    return kind === 'public' || kind === kindOf(this.#address)
  }

  #own(credentials: Sending['credentials']): { [name: string]: string } {
    const { bearer, headers } = this.options
    // The user's own headers may contain another token.
    const { authorization: own, ...others } = headers
    const authorization = bearer === undefined ? own : `Bearer ${bearer}`
    return {
      'accept-encoding': 'identity',
      'user-agent': 'mayfly-check',
      ...others,
      ...(authorization !== undefined && credentials !== 'none' && { authorization }),
    }
  }
}

/** Records a missing answer, which counts as an error of the server. */
export class NoAnswerStop extends Stop {
  override name = 'NoAnswerStop'
  readonly why: NoAnswer['why']
  /** A short description, without the request. */
  readonly reason: string

  constructor(label: string, { message, why }: NoAnswer, timeoutMs: number) {
    super(
      wrong(
        `${label}: ${message}`,
        `answer every request within ${describeMs(timeoutMs)}, even with an error`,
      ),
    )
    this.why = why
    this.reason = message
  }
}

function refuseToGoOn({ status, headers }: Answer, hasBearer: boolean): void {
  if (status === 429) throw new Stop(skipped('the server limits the rate (429)'))
  if (status === 401 || (status === 403 && headers.has('www-authenticate'))) {
    throw new Stop(skipped(hasBearer ? REFUSED_TOKEN : NEEDS_TOKEN))
  }
}
