/** The webhook of a client of MCP Events (SEP-3415): receives what servers deliver for its subscriptions. */
import { digest } from '../definition/digest.ts'
import { isObject } from '../definition/is-object.ts'
import { ABOVE_ZERO } from '../definition/option-kind.ts'
import { printError } from '../definition/print-error.ts'
import { MAX_TIMER_MS, withTimeout } from '../definition/timeout.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { readBytes } from '../http/body-pieces.ts'
import { BODY_STATUS, jsonAnswer } from '../http/json-answer.ts'
import { createRecentStore, type WebhookStore } from './replays.ts'
import { createVerifier, readSigned, type Signed } from './signature.ts'

/** An event of a server. Its content is untrusted: it says what the server says. */
export interface DeliveredEvent {
  readonly eventId: string
  readonly name: string
  /** As the server wrote it: ISO 8601. */
  readonly timestamp: string
  readonly data: { readonly [name: string]: unknown }
  /** Store it once `onEvent` is done: a subscription that lapsed continues with it. */
  readonly cursor?: string | null
  readonly _meta?: { readonly [name: string]: unknown }
}

/** For which subscription something is delivered. */
export interface Delivery {
  /** The `id` that `events/subscribe` returned, from a header that is not signed: trust it as far as only this subscription has the secret. */
  readonly subscriptionId: string
  /** The URL of this webhook, as the server called it. */
  readonly url: string
}

/** What servers tell beside events. */
export type EventsNotice =
  /** Events were lost. Continue with `cursor`, and read what is needed in another way. */
  | { readonly type: 'gap'; readonly cursor: string | null }
  /** The subscription has ended. */
  | { readonly type: 'terminated'; readonly error: { readonly code: number; readonly message: string } }

/** The options of `eventsHandler`. */
export interface EventsHandlerOptions {
  /**
   * The secrets of `delivery.secret`, each `whsec_` and 24 to 64 random bytes in base64; or a function that finds them for a subscription.
   * It is also asked at the verification, before the server has returned the `id`: then find the subscription by something of its own in the
   * URL. Undefined or none: the subscription is unknown.
   */
  readonly secret:
    | string
    | readonly string[]
    | ((delivery: Delivery) => Secrets | undefined | Promise<Secrets | undefined>)
  /**
   * Called once for an event of a secret: give each subscription its own secret if each is to get an event that both want. Nothing that is
   * signed names the server, so of two servers with one secret that use the same name and `eventId` only the first event is passed on. What
   * it throws is reported, and the server delivers the event again. Has `timeoutMs`.
   */
  readonly onEvent: (event: DeliveredEvent, delivery: Delivery) => unknown
  /** Called for a gap and an end. Default: they are ignored. */
  readonly onNotice?: (notice: EventsNotice, delivery: Delivery) => unknown
  /**
   * Remembers events, so that `onEvent` gets none twice: share it if requests reach several processes. It must accept an id again after the
   * `expiresAt` of its claim: an event whose process ended within `onEvent` is passed on again after four times `timeoutMs`. Default: in
   * memory, for one process or isolate, where over 100 000 events make room for new ones.
   */
  readonly store?: Required<WebhookStore>
  /** Milliseconds for which an event is remembered: at least twice the tolerance. Default 86 400 000, 1 day. */
  readonly rememberMs?: number
  /** Milliseconds for each call of your code. Servers wait for about 10 seconds. Default 8000. */
  readonly timeoutMs?: number
  /** Seconds by which a timestamp may differ from this machine's clock, either way. Default 300. */
  readonly toleranceSeconds?: number
  /** Bytes of a body. Default 262 144, 256 KiB, the most that servers may send. */
  readonly maxBodyBytes?: number
  /** Called with the errors of your code and of the store. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
}

type Secrets = string | readonly string[]

const OPTIONS: Names<EventsHandlerOptions> = {
  secret: 'string object function',
  onEvent: 'function',
  onNotice: 'function',
  store: 'object',
  rememberMs: [ABOVE_ZERO],
  timeoutMs: [ABOVE_ZERO, MAX_TIMER_MS],
  toleranceSeconds: [ABOVE_ZERO],
  maxBodyBytes: [ABOVE_ZERO],
  onError: 'function',
}

const BODY_TIMEOUT_MS = 10_000
/** As long as servers make them, with room. */
const SUBSCRIPTION_ID = /^[!-~]{1,256}$/
const MAX_CHALLENGE = 1024
/** How long a request may have an event, in its timeouts: two claims, `onEvent`, and what ends it. */
const LEASE = 4

/**
 * Creates the `fetch` of a webhook for MCP Events: mount it at the URL that you pass as `delivery.url`. Verifies the signature (Standard
 * Webhooks) and the time, returns the challenge of the verification, and calls `onEvent` once for each event. Never rejects.
 *
 * Answers 200 once `onEvent` is done, also for an event that it was called for before. Refuses with 400 (body), 401 (signature, time or
 * subscription), 405, 408, 413, and 503 if your code or the store fails or takes too long: then the server delivers the event again.
 *
 * ```ts
 * const webhook = eventsHandler({ secret: 'whsec_...', onEvent: (event) => console.log(event.name, event.data) })
 * ```
 *
 * @throws TypeError for an unknown or invalid option.
 */
export function eventsHandler(options: EventsHandlerOptions): (request: Request) => Promise<Response> {
  requireOptions('eventsHandler', options, OPTIONS, 'secret', 'onEvent')
  const { secret, toleranceSeconds = 300, maxBodyBytes = 262_144, timeoutMs = 8000 } = options
  const { store = createRecentStore(toleranceSeconds * 2000), rememberMs = 86_400_000 } = options
  const { onError = (error: unknown) => printError(error) } = options
  for (const name of ['claim', 'release'] as const)
    if (typeof store[name] !== 'function')
      throw new TypeError(
        `"store" of eventsHandler must have a function "${name}", as that of createMemoryStore() has.`,
      )
  if (rememberMs < toleranceSeconds * 2000)
    throw new TypeError(
      '"rememberMs" of eventsHandler must be at least twice "toleranceSeconds": the same request is valid for that long.',
    )
  const fixed = typeof secret === 'function' ? undefined : createVerifier([secret].flat())
  const ask = <T>(answer: T | Promise<T>): Promise<T> =>
    withTimeout(answer, timeoutMs, '"store" of eventsHandler')

  const verifierOf = async (delivery: Delivery): Promise<ReturnType<typeof createVerifier> | undefined> => {
    if (typeof secret !== 'function') return fixed
    const found = await withTimeout(secret(delivery), timeoutMs, '"secret" of eventsHandler')
    const secrets = [found ?? []].flat()
    return secrets.length === 0 ? undefined : createVerifier(secrets)
  }

  /** The secret that signed a request; undefined: none that is known. */
  const secretOf = async (
    delivery: Delivery,
    signed: Signed,
    body: Uint8Array,
  ): Promise<string | undefined> => (await verifierOf(delivery))?.secretOf(signed, body)

  /** Whether the event is done. */
  const takeEvent = async (event: DeliveredEvent, delivery: Delivery, known: string): Promise<boolean> => {
    // Only of what is signed: the header with the subscription is not, so another one would make the same event a new one.
    const name = await digest(JSON.stringify([known, event.name, event.eventId]))
    const [running, done] = [`running:${name}`, `event:${name}`]
    const until = Date.now() + LEASE * timeoutMs
    // Another request has it: an answer of 200 now would be too early.
    if (!(await ask(store.claim(running, until)))) return false
    try {
      // It is not done if this process ends before it says so.
      if (!(await ask(store.claim(done, until)))) return true
      const work = (async () => options.onEvent(event, delivery))()
      await withTimeout(work, timeoutMs, '"onEvent" of eventsHandler').finally(() => ask(store.release(done)))
      await ask(store.claim(done, Date.now() + rememberMs))
      return true
    } finally {
      await ask(store.release(running))
    }
  }

  const accept = async (
    id: string,
    content: unknown,
    delivery: Delivery,
    known: string,
  ): Promise<Response> => {
    if (!isObject(content)) return refuse(400, 'The body must be a JSON object.')
    if (content.type === 'verification') {
      const { challenge } = content
      const isChallenge = typeof challenge === 'string' && challenge.length <= MAX_CHALLENGE
      return isChallenge ? jsonAnswer(200, { challenge }) : refuse(400, '"challenge" must be a string.')
    }
    if (content.type !== undefined) {
      const notice = toNotice(content)
      const told = notice && (async () => options.onNotice?.(notice, delivery))()
      await withTimeout(told, timeoutMs, '"onNotice" of eventsHandler')
      return jsonAnswer(200, { accepted: true })
    }
    const event = toEvent(content)
    if (event === undefined || event.eventId !== id)
      return refuse(400, 'The body must be an event whose "eventId" is the webhook-id.')
    return (await takeEvent(event, delivery, known))
      ? jsonAnswer(200, { accepted: true })
      : refuse(503, 'This event is being processed: send it again later.', { 'retry-after': '5' })
  }

  return async (request) => {
    if (request.method !== 'POST') return refuse(405, 'Send a POST.', { allow: 'POST' })
    const signed = readSigned(request.headers)
    const subscriptionId = request.headers.get('x-mcp-subscription-id') ?? ''
    const isLate = Math.abs(Date.now() / 1000 - Number(signed?.timestamp)) > toleranceSeconds
    if (signed === undefined || isLate || !SUBSCRIPTION_ID.test(subscriptionId))
      return refuse(401, UNVERIFIED)
    const body = await readBytes(request, maxBodyBytes, BODY_TIMEOUT_MS)
    if ('fault' in body) return refuse(BODY_STATUS[body.fault], 'The body cannot be read, or is too large.')
    const delivery: Delivery = { subscriptionId, url: request.url }
    try {
      const known = await secretOf(delivery, signed, body)
      if (known === undefined) return refuse(401, UNVERIFIED)
      return await accept(signed.id, parse(body), delivery, known)
    } catch (error) {
      onError(error)
      return refuse(503, 'The event cannot be processed now: send it again later.')
    }
  }
}

/** The same for every reason, so that a forger learns nothing. */
const UNVERIFIED =
  'The request is not signed with the secret of a known subscription, or its timestamp differs too much from the current time.'

function refuse(status: number, error: string, headers?: { readonly [name: string]: string }): Response {
  return jsonAnswer(status, { error }, headers)
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Undefined for a notice of a later text. */
function toNotice({ type, cursor, error }: { readonly [name: string]: unknown }): EventsNotice | undefined {
  if (type === 'gap') return { type, cursor: typeof cursor === 'string' ? cursor : null }
  if (type !== 'terminated') return undefined
  const { code, message } = isObject(error) ? error : {}
  const told = {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : '',
  }
  return { type, error: told }
}

function toEvent(content: { readonly [name: string]: unknown }): DeliveredEvent | undefined {
  const { eventId, name, timestamp, data, cursor, _meta } = content
  if (typeof eventId !== 'string' || typeof name !== 'string' || typeof timestamp !== 'string')
    return undefined
  if (!isObject(data)) return undefined
  const rest = {
    ...((typeof cursor === 'string' || cursor === null) && { cursor }),
    ...(isObject(_meta) && { _meta }),
  }
  return { eventId, name, timestamp, data, ...rest }
}
