/** Everything but a single request: batches, notifications, responses and invalid messages. A part, loaded with the first. */
import type { BatchAnswers } from './batch-answers.ts'
import { batchReply } from './batch-reply.ts'
import type { Admitted, Checkpoint, Extent, Incoming } from './engine-options.ts'
import { hasEnvelope, readVersion } from './envelope.ts'
import { checkStandardHeaders, mismatch } from './headers.ts'
import { invalidRequest, type Message, type UnansweredMessage } from './json-rpc.ts'
import { readMessage } from './read-message.ts'
import { accepted, BufferedReply, type Reply } from './reply.ts'
import { checkVersion, isModernVersion } from './versions.ts'

/** The parts of an engine that they need. */
interface Serving {
  readonly serve: (
    message: Message,
    sender: Admitted,
    extent: Extent,
    answers?: BatchAnswers,
  ) => Promise<Reply>
  readonly toIncoming: (sender: Admitted, onStreamEnd: () => void) => Incoming
  readonly runs: (message: Message) => boolean
  readonly checkpoint: Checkpoint
}

/** Serves a body that is not a request: of a batch each message as if it were sent alone. @throws ProtocolError for a batch that is not served. */
export async function serveOther(
  value: unknown,
  sender: Admitted,
  { serve, toIncoming, runs, checkpoint }: Serving,
): Promise<Reply> {
  if (!Array.isArray(value)) return serve(readMessage(value), sender, 'single', sender.answers)
  const incoming = toIncoming(sender, () => {})
  const reply = await batchReply(value, sender, incoming, serve, runs)
  checkpoint.finish(incoming, reply.status, 'batch')
  return reply
}

/** What accepts them for a server: its `Answerer`. */
interface Acceptor {
  accept(message: UnansweredMessage, incoming: Incoming): unknown
  readonly modernVersions: readonly string[] | undefined
}

/** @throws ProtocolError for an invalid message, and if the headers contradict the body, or the version is not supported. */
export async function accept(
  message: Exclude<Message, { kind: 'request' }>,
  incoming: Incoming,
  acceptor: Acceptor,
): Promise<Reply> {
  if (message.kind === 'invalid') throw invalidRequest(message.reason)
  checkUnanswered(message, incoming, acceptor.modernVersions)
  const reply = await acceptor.accept(message, incoming)
  return reply instanceof BufferedReply ? reply : accepted(incoming.headers)
}

/** @throws ProtocolError if the headers contradict the body, or the version is not supported. */
function checkUnanswered(
  message: UnansweredMessage,
  incoming: Incoming,
  modernVersions: Acceptor['modernVersions'],
): void {
  const { era, isHttp, versionHeader, sent } = incoming
  if (message.kind === 'response') {
    if (versionHeader !== null && isModernVersion(versionHeader))
      throw invalidRequest('clients do not send responses in this version')
    return
  }
  if (isHttp) checkStandardHeaders(sent, message.method, message.params, 'optional')
  if (era === 'modern') checkNotificationVersion(message, incoming, modernVersions)
}

/** 2026-07-28 does not define headers for notifications: none is required, but a present one must not contradict the body. */
function checkNotificationVersion(
  { params }: Message & { readonly kind: 'notification' },
  { versionHeader }: Incoming,
  modernVersions: readonly string[] | undefined,
): void {
  const inBody = hasEnvelope(params) ? readVersion(params) : undefined
  const version = versionHeader ?? inBody
  if (inBody !== undefined && version !== inBody)
    throw mismatch(`the MCP-Protocol-Version header is "${version}", but the body has "${inBody}"`)
  if (version !== undefined) checkVersion(version, modernVersions)
}
