/** The reply to a batch: each message is served as if it were sent alone, and all are answered in one JSON array. */
import { bytesOver, utf8Length } from '../definition/utf8.ts'
import { checkBatch } from './batch.ts'
import { type BatchAnswers, createBatchAnswers, inTurn } from './batch-answers.ts'
import type { Admitted, Extent, Incoming } from './engine-options.ts'
import type { Message, RpcId } from './json-rpc.ts'
import { accepted, BufferedReply, jsonReply, type Reply, textOf } from './reply.ts'
import { tooLarge } from './response-limit.ts'
import { CLIENT_GONE } from './sse-response.ts'

/** Serves one message. Never rejects. */
type Serve = (message: Message, sender: Admitted, extent: Extent, answers?: BatchAnswers) => Promise<Reply>

/**
 * @param incoming Of the batch as a whole. @param runs Whether a message runs code.
 * @throws ProtocolError for a batch that is not served.
 */
export async function batchReply(
  values: readonly unknown[],
  sender: Admitted,
  incoming: Incoming,
  serve: Serve,
  runs: (message: Message) => boolean,
): Promise<Reply> {
  const messages = checkBatch(values, sender.sent.get('mcp-protocol-version'))
  // One shared object: only the first message uses the count of the HTTP request.
  const buffered: Admitted = { ...sender, platform: { ...sender.platform, canStream: false } }
  const outcomes: Reply[] = []
  let index = 0
  // Each call has an id of its own.
  const servePart = (message: Message, answers?: BatchAnswers): Promise<Reply> =>
    serve(message, { ...buffered, requestId: `${sender.requestId}.${++index}` }, 'part', answers)
  // Notifications and responses first, since a request may wait for one of them. Messages that run no code are served one by one.
  const unanswered = messages.filter(({ kind }) => kind !== 'request')
  for (const message of unanswered) if (!runs(message)) outcomes.push(await servePart(message))
  outcomes.push(...(await Promise.all(unanswered.filter(runs).map((message) => servePart(message)))))
  const requests = messages.filter((message) => message.kind === 'request')
  const kept = createBatchAnswers()
  const answers = await inTurn(requests, async (request) => {
    const reply = await servePart(request, kept)
    return { id: request.id, status: reply.status, message: kept.keep(request.id, await textOf(reply)) }
  })
  incoming.record.method = 'batch'
  if ([...outcomes, ...answers].some(({ status }) => status === CLIENT_GONE))
    return new BufferedReply(null, CLIENT_GONE, {})
  // For a batch without requests, the HTTP status is the only sign of a refusal.
  const refused = answers.length === 0 ? outcomes.find(({ status }) => status >= 400) : undefined
  return refused ?? toBatchResponse(answers, incoming)
}

function toBatchResponse(parts: readonly Part[], { platform, headers }: Incoming): Reply {
  const answers = parts.filter(({ message }) => message !== '')
  if (answers.length === 0) return accepted(headers)
  return jsonReply(batchWithinLimit(answers, platform.maxResponseBytes), 200, headers)
}

/** An answer of a batch. */
interface Part {
  readonly id: RpcId
  readonly message: string
}

/**
 * The array of a batch. If it is larger than `maxBytes`, as many answers as fit, the small ones first; the other requests get an error,
 * since their calls have run.
 */
function batchWithinLimit(parts: readonly Part[], maxBytes = Number.POSITIVE_INFINITY): string {
  const whole = arrayOf(parts.map(({ message }) => message))
  const bytes = bytesOver(whole, maxBytes)
  if (bytes === undefined) return whole
  const refuse = (id?: RpcId): string =>
    tooLarge(id, `The answers to this batch have ${bytes}`, bytes, maxBytes, 'send this request alone')
  const sent = parts.map(({ id }) => refuse(id))
  let room = maxBytes - utf8Length(arrayOf(sent))
  if (room < 0) return refuse()
  const bySize = parts.map(({ message }, at) => ({
    at,
    message,
    more: utf8Length(message) - utf8Length(sent[at]!),
  }))
  for (const { at, message, more } of bySize.sort((a, b) => a.more - b.more)) {
    if (more > room) break
    room -= more
    sent[at] = message
  }
  return arrayOf(sent)
}

function arrayOf(messages: readonly string[]): string {
  return `[${messages.join(',')}]`
}
