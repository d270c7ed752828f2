/** The webhooks that the playground offers to a local server for its events (SEP-3415): what arrives is kept for the page. */
import { randomBytes } from 'node:crypto'
import { readBytes } from '../../src/http/body-pieces.ts'
import { BODY_STATUS, jsonAnswer } from '../../src/http/json-answer.ts'
import { eventsHandler } from '../../src/webhook.ts'

/** What a receiver answers to the next deliveries. Verifications are always answered. */
export type ReceiverAnswer = 'accept' | 'fail' | 'gone' | 'slow'

export interface ReceivedEntry {
  /** 1 for the first request of this receiver. */
  readonly number: number
  readonly kind: 'verification' | 'delivery'
  /** The `webhook-id`: for an event, its `eventId`. */
  readonly id: string
  /** 1 for the first request with this id among the entries that are kept. */
  readonly attempt: number
  /** Epoch milliseconds. */
  readonly at: number
  /** Signed by this receiver's secret, with a timestamp of now. */
  readonly isVerified: boolean
  /** Untrusted text. */
  readonly body: string
  /** The status that was answered. */
  readonly status: number
}

export interface EventReceiver {
  readonly id: string
  readonly secret: string
  /** The newest ones. */
  readonly entries: readonly ReceivedEntry[]
  setAnswer(answer: ReceiverAnswer): void
}

export interface EventReceivers {
  /** Closes the one that was asked for the longest time ago, if there are too many. Undefined if all were asked for just now. */
  open(): EventReceiver | undefined
  /** Undefined for an id that is not open. */
  get(id: string): EventReceiver | undefined
  close(id: string): void
  /** Answers a request to the receiver with this id: 410 for any other id, before the body is read. */
  handle(id: string, request: Request): Promise<Response>
}

const MAX_RECEIVERS = 16
/** A page that shows a receiver asks for it more often. */
const IDLE_MS = 30_000
const MAX_ENTRIES = 100
const MAX_BODY_BYTES = 262_144
const MAX_ID_CHARACTERS = 256
/** All that is kept of one receiver's bodies, in characters. */
const MAX_KEPT_CHARACTERS = 1_048_576
const BODY_TIMEOUT_MS = 10_000
/** Answers of one receiver that are slow at once; more fail. */
const MAX_SLOW = 20
const STATUS = { accept: 200, slow: 200, fail: 500, gone: 410 } as const

/** @param slowMs How long `slow` waits: longer than servers wait for an answer. Default 15 000. */
export function createEventReceivers({ slowMs = 15_000 } = {}): EventReceivers {
  // The one that was asked for the longest time ago first.
  const receivers = new Map<string, { readonly receiver: Receiver; askedAt: number }>()
  const makeRoom = (): void => {
    const [id, { askedAt }] = receivers.entries().next().value!
    if (Date.now() - askedAt >= IDLE_MS) receivers.delete(id)
  }
  return {
    open: () => {
      if (receivers.size >= MAX_RECEIVERS) makeRoom()
      if (receivers.size >= MAX_RECEIVERS) return undefined
      const receiver = createReceiver(slowMs)
      receivers.set(receiver.id, { receiver, askedAt: Date.now() })
      return receiver
    },
    get: (id) => {
      const found = receivers.get(id)
      if (found === undefined) return undefined
      receivers.delete(id)
      receivers.set(id, { ...found, askedAt: Date.now() })
      return found.receiver
    },
    close: (id) => {
      receivers.delete(id)
    },
    // By 410 the server ends the subscription of a page that is gone.
    handle: async (id, request) =>
      receivers.get(id)?.receiver.handle(request) ?? jsonAnswer(410, { error: 'No such receiver.' }),
  }
}

type Receiver = EventReceiver & { handle(request: Request): Promise<Response> }

function createReceiver(slowMs: number): Receiver {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const entries: ReceivedEntry[] = []
  let next: ReceiverAnswer = 'accept'
  let received = 0
  let slow = 0
  const verify = eventsHandler({ secret, onEvent: () => {} })

  const keep = (entry: ReceivedEntry): void => {
    entries.push(entry)
    let characters = entries.reduce((sum, { body }) => sum + body.length, 0)
    while (entries.length > MAX_ENTRIES || characters > MAX_KEPT_CHARACTERS)
      characters -= entries.shift()!.body.length
  }

  const wait = async (): Promise<void> => {
    slow++
    await new Promise((resolve) => setTimeout(resolve, slowMs).unref())
    slow--
  }

  const handle = async (request: Request): Promise<Response> => {
    const at = Date.now()
    const answer = next
    const bytes = await readBytes(request, MAX_BODY_BYTES, BODY_TIMEOUT_MS)
    if ('fault' in bytes)
      return jsonAnswer(BODY_STATUS[bytes.fault], { error: 'The body cannot be read, or is too large.' })
    const { url, method, headers } = request
    const sent =
      method === 'POST' ? { method, headers, body: bytes as Uint8Array<ArrayBuffer> } : { method, headers }
    const checked = await verify(new Request(url, sent))
    const body = new TextDecoder().decode(bytes)
    const isVerified = checked.ok
    const kind = isVerified && isVerification(body) ? 'verification' : 'delivery'
    const isChosen = isVerified && kind === 'delivery'
    const isFull = answer === 'slow' && slow >= MAX_SLOW
    const status = !isChosen ? checked.status : isFull ? 503 : STATUS[answer]
    const id = (headers.get('webhook-id') ?? '').slice(0, MAX_ID_CHARACTERS)
    const attempt = 1 + entries.filter((entry) => entry.id === id && entry.isVerified === isVerified).length
    // What is not signed may be anything: its body is not kept.
    keep({ number: ++received, kind, id, attempt, at, isVerified, body: isVerified ? body : '', status })
    if (isChosen && answer === 'slow' && !isFull) await wait()
    return isChosen && answer !== 'accept' ? jsonAnswer(status, { answer }) : checked
  }
  return {
    id: randomBytes(32).toString('base64url'),
    secret,
    entries,
    setAnswer: (answer) => {
      next = answer
    },
    handle,
  }
}

function isVerification(body: string): boolean {
  return (JSON.parse(body) as { readonly type?: unknown }).type === 'verification'
}
