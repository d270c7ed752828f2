/**
 * The engine: from the body of a POST, or a message of a session or stdio, to its reply. Every message passes the same steps: read,
 * describe, admit, answer, finish. Only the answerer differs: an `MCPServer`'s, or a server of another SDK.
 */
import { part, withPart } from '../definition/part.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { BatchAnswers } from './batch-answers.ts'
import { clip, fillRecord } from './describe.ts'
import type {
  Admitted,
  Extent,
  Incoming,
  Leave,
  Refusal,
  RequestRecord,
  ServeOptions,
} from './engine-options.ts'
import { hasEnvelope, readEnvelope } from './envelope.ts'
import { eraOf, initializeMismatch } from './era.ts'
import { toFailure } from './failure.ts'
import { checkStandardHeaders, mismatch } from './headers.ts'
import {
  checkLimits,
  errorMessage,
  type Message,
  parseJson,
  type RequestMessage,
  type RpcId,
  readRequest,
  shownId,
  type UnansweredMessage,
} from './json-rpc.ts'
import { loadOtherMessages, loadTraced } from './load-engine.ts'
import { BufferedReply, isBuffered, isStream, jsonReply, type Reply } from './reply.ts'
import type { ServeMessage } from './traced.ts'
import { checkVersion } from './versions.ts'

/** Answers the messages of a server. Of the errors it throws, the client sees a `ProtocolError`; all others are reported. */
export interface Answerer {
  answer(message: RequestMessage, incoming: Incoming): Reply | Promise<Reply>
  /** Accepts a notification or a response. If it returns a `BufferedReply`, that replaces the usual 202. */
  accept(message: UnansweredMessage, incoming: Incoming): unknown
  /** The modern revisions it supports. Undefined: it refuses unsupported ones itself. */
  readonly modernVersions: readonly string[] | undefined
  /** Whether a message runs code, and so counts as a concurrent call. */
  runs(message: Message): boolean
  /** Ends open `subscriptions/listen` streams with their result. */
  close(): void
}

/** A body as text, or already parsed by the transport. */
export type Body = { readonly text: string } | { readonly value: unknown }

export interface Engine {
  /** Never throws, never rejects. */
  serve(body: Body, sender: Admitted): Promise<Reply>
  /** Parses a body for a transport that needs it parsed. @throws ProtocolError `-32700` or `-32600`, HTTP status 400. */
  parse(text: string): unknown
  close(): void
}

/** Creates the engine of one server, with what all requests share. */
export function createEngine(answerer: Answerer, options: ServeOptions): Engine {
  const { checkpoint } = options
  const limits = {
    maxDepth: options.maxJsonDepth,
    maxMembers: options.maxJsonMembers,
    maxStringCharacters: options.maxStringCharacters,
  }

  const refuse = (error: unknown, id: RpcId | undefined, incoming: Incoming): Reply => {
    const { message, status, headers, isFault } = toFailure(error, id, incoming, options.reportError)
    // An error that escaped the answerer is a server error: HTTP 500.
    return jsonReply(message, isFault ? 500 : status, { ...incoming.headers, ...headers })
  }

  /** Throws or rejects with an error that `refuse` answers. */
  const answer = (message: Message, incoming: Incoming): Reply | Promise<Reply> => {
    if (message.kind === 'request') {
      checkRequest(message, incoming, answerer.modernVersions)
      return answerer.answer(message, incoming)
    }
    return withPart(loadOtherMessages, ({ accept }) => accept(message, incoming, answerer))
  }

  let span: ServeMessage | undefined
  const serveTraced: ServeMessage = async (message, incoming) => {
    try {
      return await answer(message, incoming)
    } catch (error) {
      return refuse(error, idOf(message), incoming)
    }
  }
  /** Without the code of spans there is none, and the call goes on. */
  const firstTraced: ServeMessage = async (message, incoming) => {
    try {
      const { createTraced } = await part(loadTraced)
      span ??= createTraced(options.telemetry!, serveTraced, options.reportError)
    } catch (error) {
      options.reportError(error, { requestId: incoming.requestId, telemetry: true })
    }
    return (span ?? serveTraced)(message, incoming)
  }
  /** Undefined without telemetry, since each async function costs time. */
  const traced =
    options.telemetry &&
    ((message: Message, incoming: Incoming): Promise<Reply> => (span ?? firstTraced)(message, incoming))

  /** Serves one message, from its first check to its last byte. */
  const serve = async (
    message: Message,
    sender: Admitted,
    extent: Extent,
    answers?: BatchAnswers,
  ): Promise<Reply> => {
    let leave: Leave | undefined
    const finish = (status: number): void => {
      leave?.(incoming.facts.rest)
      checkpoint.finish(incoming, status, extent)
    }
    const incoming = toIncoming(sender, finish, message)
    let reply: Reply
    try {
      if (traced !== undefined) fillRecord(incoming)
      const entering = answerer.runs(message) ? checkpoint.enter(sender) : checkpoint.count(sender)
      const entered = entering instanceof Promise ? await entering : entering
      if (typeof entered === 'object') reply = refuseTraffic(entered, idOf(message), incoming)
      else {
        leave = entered
        answers?.check()
        const answering = (traced ?? answer)(message, incoming)
        reply = answering instanceof Promise ? await answering : answering
      }
    } catch (error) {
      reply = refuse(error, idOf(message), incoming)
    }
    if (reply instanceof BufferedReply || !isStream(reply)) finish(reply.status)
    return reply
  }

  /** A request of a batch that a transport has taken apart. */
  const servePartOf = async (
    answers: BatchAnswers,
    message: RequestMessage,
    sender: Admitted,
  ): Promise<Reply> => {
    const reply = await serve(message, sender, 'single', answers)
    if (!isBuffered(reply) || reply.text === null) return reply
    return jsonReply(answers.keep(message.id, reply.text), reply.status, reply.headers)
  }

  const serveOther = async (value: unknown, body: Body, sender: Admitted): Promise<Reply> => {
    try {
      const other = await part(loadOtherMessages)
      return await other.serveOther(value, sender, { serve, toIncoming, runs: answerer.runs, checkpoint })
    } catch (error) {
      return refuseBody(error, body, sender)
    }
  }

  /** For a body that is not a message or not a supported batch. */
  const refuseBody = (error: unknown, body: Body, sender: Admitted): Reply => {
    const incoming = toIncoming(sender, () => {})
    // In a session, a response without an id could not be matched to its request.
    const id = 'value' in body ? shownId(body.value) : undefined
    const reply = refuse(error, id, incoming)
    checkpoint.finish(incoming, reply.status, 'single')
    return reply
  }

  return {
    parse: (text) => parseJson(text, limits),
    close: () => answerer.close(),
    serve(body, sender) {
      try {
        const value = 'text' in body ? parseJson(body.text, limits) : checkLimits(body.value, limits)
        const message = readRequest(value)
        if (message === undefined) return serveOther(value, body, sender)
        const { answers } = sender
        return answers === undefined
          ? serve(message, sender, 'single')
          : servePartOf(answers, message, sender)
      } catch (error) {
        return Promise.resolve(refuseBody(error, body, sender))
      }
    },
  }
}

/** @throws ProtocolError if the headers contradict the body, or the version is not supported. */
function checkRequest(
  { method, params }: RequestMessage,
  incoming: Incoming,
  modernVersions: Answerer['modernVersions'],
): void {
  const { era, isHttp, versionHeader, sent } = incoming
  if (era === 'legacy') {
    if (isHttp) checkStandardHeaders(sent, method, params, 'optional')
    return
  }
  if (method === 'initialize' && !hasEnvelope(params)) throw initializeMismatch()
  const envelope = readEnvelope(params)
  incoming.envelope = envelope
  const { protocolVersion } = envelope
  if (isHttp && versionHeader !== null && versionHeader !== protocolVersion)
    throw mismatch(
      `the MCP-Protocol-Version header is "${versionHeader}", but the body has "${protocolVersion}"`,
    )
  if (modernVersions?.includes(protocolVersion) === false) checkVersion(protocolVersion, modernVersions)
  if (!isHttp) return
  if (versionHeader === null) throw mismatch('the MCP-Protocol-Version header is missing')
  checkStandardHeaders(sent, method, params, 'needed')
}

/** Without a message for a batch, and for a body that is refused. */
function toIncoming(sender: Admitted, onStreamEnd: (status: number) => void, message?: Message): Incoming {
  const { auth, isHttp, sent } = sender
  const versionHeader = isHttp ? sent.get('mcp-protocol-version') : null
  const record: RequestRecord = auth === undefined ? {} : { clientId: auth.clientId }
  if (message?.kind === 'request' || message?.kind === 'notification') record.method = clip(message.method)
  return {
    ...sender,
    message,
    era: message === undefined ? 'legacy' : eraOf(message, versionHeader),
    record,
    facts: {},
    versionHeader,
    envelope: undefined,
    definition: undefined,
    onStreamEnd,
  }
}

function refuseTraffic(
  { status, message, headers }: Refusal,
  id: RpcId | undefined,
  incoming: Incoming,
): Reply {
  const code = ErrorCode.internal
  incoming.record.code = code
  return jsonReply(errorMessage(id, { code, message }), status, { ...incoming.headers, ...headers })
}

function idOf(message: Message): RpcId | undefined {
  return message.kind === 'request' || message.kind === 'invalid' ? message.id : undefined
}
