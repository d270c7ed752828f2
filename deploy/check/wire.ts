/** The line to one server: adds what the user gave, keeps a record of what came, and gives up on a server that is silent. */
import type { Agent } from 'node:http'
import { type Answer, describeMs, exchange, type HttpRequest, NoAnswer } from './http.ts'
import { Stop, skipped, wrong } from './outcome.ts'

export interface WireOptions {
  readonly url: URL
  readonly bearer: string | undefined
  /** The user's own, for every request to the server's origin. */
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

export interface Sending {
  /** What it is, for the record: `an unknown method`. */
  readonly label: string
  /** Default POST. */
  readonly method?: string
  /** Default: the server's. */
  readonly url?: URL
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  readonly isEnough?: HttpRequest['isEnough']
  /** Default: the user's. */
  readonly timeoutMs?: number
  readonly agent?: Agent
  /** `none`: without `Authorization`. A foreign origin gets neither it nor the user's headers, whatever this says. */
  readonly credentials?: 'bearer' | 'none'
  /** `any`: refusals for want of a token and for too many requests are for the caller to judge. */
  readonly statuses?: 'any'
}

export interface Seen {
  readonly label: string
  readonly answer: Answer
}

/** After so many requests without an answer the rest is skipped, or a dead server would take minutes. */
const MAX_SILENCES = 4

export class Wire {
  readonly options: WireOptions
  /** Every answer of the server itself, in order of arrival. */
  readonly seen: Seen[] = []
  #silences = 0
  #lastId = 0

  constructor(options: WireOptions) {
    this.options = options
  }

  freshId(): string {
    this.#lastId += 1
    return `check-${this.#lastId}`
  }

  /** Throws `Stop` where there is no answer, and where it is 401, 403 for want of scope, or 429. */
  async send(sending: Sending): Promise<Answer> {
    const { options } = this
    if (this.#silences >= MAX_SILENCES)
      throw new Stop(skipped('given up: too many requests were not answered'))
    const { label, method = 'POST', url = options.url, timeoutMs = options.timeoutMs } = sending
    const isOwn = url.origin === options.url.origin
    const headers = { ...(isOwn && this.#own(sending.credentials)), ...sending.headers }
    const { body, isEnough, agent } = sending
    const request = {
      ...(body !== undefined && { body }),
      ...(isEnough && { isEnough }),
      ...(agent && { agent }),
    }
    let answer: Answer
    try {
      answer = await exchange({ method, url, headers, timeoutMs, ...request })
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      this.#silences += 1
      throw new Stop(
        wrong(
          `${label}: ${error.message}`,
          `answer every request, within ${describeMs(timeoutMs)}, even if with an error`,
        ),
      )
    }
    if (isOwn) this.seen.push({ label, answer })
    if (sending.statuses === undefined) refuseToGoOn(answer, options.bearer !== undefined)
    return answer
  }

  #own(credentials: Sending['credentials']): { [name: string]: string } {
    const { bearer, headers } = this.options
    // The user's own headers may hold a token of another kind.
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

function refuseToGoOn({ status, headers }: Answer, hasBearer: boolean): void {
  if (status === 429) throw new Stop(skipped('the server limits the rate (429)'))
  if (status === 401 || (status === 403 && headers.has('www-authenticate'))) {
    throw new Stop(skipped(hasBearer ? 'the token given is not taken here' : 'needs a token: pass --bearer'))
  }
}
