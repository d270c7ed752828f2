/**
 * The engine: from the body of a POST, or a message of a lasting connection, to its response. Every message goes one way, whoever
 * answers it: read → describe → enter → answer → finish. What differs is the answerer: our own, or somebody else's server.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { checkBatch } from './batch.ts'
import { checkEra, describe } from './describe.ts'
import { hasEnvelope, readEnvelope, readVersion } from './envelope.ts'
import { isStream, jsonResponse } from './exchange.ts'
import { toFailure } from './failure.ts'
import { checkStandardHeaders, mismatch } from './headers.ts'
import {
  checkLimits,
  errorMessage,
  invalidRequest,
  type Message,
  parseJson,
  type RpcId,
  readMessage,
} from './json-rpc.ts'
import type { Admitted, Extent, Incoming, Refusal, ServeOptions } from './options.ts'
import { withinLimit } from './response-limit.ts'
import { createTraced, type ServeMessage } from './traced.ts'
import { isModernVersion } from './versions.ts'

export type RequestMessage = Message & { readonly kind: 'request' }
export type UnansweredMessage = Message & ({ readonly kind: 'notification' } | { readonly kind: 'response' })

/** Who answers the messages of a server. What it throws is told to the client where it is a `ProtocolError`, and reported if not. */
export interface Answerer {
  answer(message: RequestMessage, incoming: Incoming): Response | Promise<Response>
  /** Takes what has no answer. A response stands for the usual 202. */
  take(message: UnansweredMessage, incoming: Incoming): unknown
  /** Modern revisions that it speaks. Undefined: it says so itself. */
  readonly modernVersions: readonly string[] | undefined
  /** Whether a message runs code, and so counts among the calls at once. */
  runs(message: Message): boolean
  /** Ends streams that would go on for ever, with their result. */
  close(): void
}

/** A body as it came, or as a transport has parsed it. */
export type Body = { readonly text: string } | { readonly value: unknown }

export interface Engine {
  /** Never throws, never rejects. */
  serve(body: Body, sender: Admitted): Promise<Response>
  /** Parses a body for a transport that wants it parsed. @throws ProtocolError `-32700` or `-32600`, HTTP status 400. */
  parse(text: string): unknown
  close(): void
}

/** Makes the engine of one server; what every request shares is computed here. */
export function createEngine(answerer: Answerer, options: ServeOptions): Engine {
  const { checkpoint } = options
  const limits = {
    maxDepth: options.maxJsonDepth,
    maxMembers: options.maxJsonMembers,
    maxStringCharacters: options.maxStringCharacters,
  }

  const refuse = (error: unknown, id: RpcId | undefined, incoming: Incoming): Response => {
    const { message, status, headers, isFault } = toFailure(error, id, incoming, options.reportError)
    // What no method has answered is a fault of the server as a whole.
    return jsonResponse(message, isFault ? 500 : status, { ...incoming.headers, ...headers })
  }

  const answer = async (message: Message, incoming: Incoming): Promise<Response> => {
    try {
      if (message.kind === 'invalid') throw invalidRequest(message.reason)
      checkMessage(message, incoming, answerer)
      if (message.kind === 'request') return await answerer.answer(message, incoming)
      const taken = await answerer.take(message, incoming)
      return taken instanceof Response ? taken : accepted(incoming)
    } catch (error) {
      return refuse(error, idOf(message), incoming)
    }
  }

  const traced: ServeMessage =
    options.telemetry === undefined ? answer : createTraced(options.telemetry, answer, options.reportError)

  /** One message, from its first check to its last byte. */
  const serve = async (message: Message, sender: Admitted, extent: Extent): Promise<Response> => {
    let leave: (() => void) | undefined
    const incoming = toIncoming(sender, () => {
      leave?.()
      checkpoint.finish(incoming, 200, extent)
    })
    describe(message, incoming)
    if (answerer.runs(message)) {
      const entered = checkpoint.enter(sender)
      const outcome = entered instanceof Promise ? await entered : entered
      if (typeof outcome !== 'function') {
        const response = refuseTraffic(outcome, idOf(message), incoming)
        checkpoint.finish(incoming, response.status, extent)
        return response
      }
      leave = outcome
    }
    const response = await traced(message, incoming)
    if (!isStream(response)) {
      leave?.()
      checkpoint.finish(incoming, response.status, extent)
    }
    return response
  }

  /** Each message is served as if it had come alone, and answered in JSON. */
  const serveBatch = async (values: readonly unknown[], sender: Admitted): Promise<Response> => {
    const messages = checkBatch(values, sender.request.headers.get('mcp-protocol-version'))
    // One object for all of them: what the door has counted is used up by the first.
    const buffered: Admitted = { ...sender, platform: { ...sender.platform, canStream: false } }
    const unanswered = messages.filter(({ kind }) => kind !== 'request')
    // An answer may come in a batch, too: those who wait for it must not wait for the others.
    await Promise.all(unanswered.map((message) => serve(message, buffered, 'part')))
    const requests = messages.filter(({ kind }) => kind === 'request')
    const texts = await Promise.all(
      requests.map(async (message) => (await serve(message, buffered, 'part')).text()),
    )
    const incoming = toIncoming(sender, () => {})
    incoming.record.method = 'batch'
    const response = toBatchResponse(texts, incoming)
    checkpoint.finish(incoming, response.status, 'batch')
    return response
  }

  return {
    parse: (text) => parseJson(text, limits),
    close: () => answerer.close(),
    async serve(body, sender) {
      try {
        const value = 'text' in body ? parseJson(body.text, limits) : checkLimits(body.value, limits)
        return Array.isArray(value)
          ? await serveBatch(value, sender)
          : await serve(readMessage(value), sender, 'single')
      } catch (error) {
        const incoming = toIncoming(sender, () => {})
        // On a connection an answer without an id would be nobody's.
        const id = 'value' in body ? idOf(readMessage(body.value)) : undefined
        const response = refuse(error, id, incoming)
        checkpoint.finish(incoming, response.status, 'single')
        return response
      }
    },
  }
}

/** @throws ProtocolError where the headers and the body of a message contradict each other, or its version is not spoken. */
function checkMessage(
  message: RequestMessage | UnansweredMessage,
  incoming: Incoming,
  { modernVersions }: Answerer,
): void {
  const { record, isHttp, versionHeader, request } = incoming
  if (message.kind === 'response') {
    if (versionHeader !== null && isModernVersion(versionHeader))
      throw invalidRequest('clients do not send responses in this version')
    return
  }
  const { method, params } = message
  const isLegacy = record.era !== 'modern'
  if (isHttp && (isLegacy || message.kind === 'notification'))
    checkStandardHeaders(request.headers, method, params, 'optional')
  if (isLegacy) return
  if (message.kind === 'notification') {
    checkNotificationVersion(message, incoming, modernVersions)
    return
  }
  checkEra(message, incoming)
  const envelope = readEnvelope(params)
  incoming.envelope = envelope
  const { protocolVersion } = envelope
  if (isHttp && versionHeader !== null && versionHeader !== protocolVersion)
    throw mismatch(`the MCP-Protocol-Version header says "${versionHeader}", the body "${protocolVersion}"`)
  checkVersion(protocolVersion, modernVersions)
  if (!isHttp) return
  if (versionHeader === null) throw mismatch('the MCP-Protocol-Version header is missing')
  checkStandardHeaders(request.headers, method, params, 'needed')
}

/** Its headers are not defined in 2026-07-28: none is needed, and one that is there must not contradict the body. */
function checkNotificationVersion(
  { params }: Message & { readonly kind: 'notification' },
  { versionHeader }: Incoming,
  modernVersions: readonly string[] | undefined,
): void {
  const inBody = hasEnvelope(params) ? readVersion(params) : undefined
  const version = versionHeader ?? inBody
  if (inBody !== undefined && version !== inBody)
    throw mismatch(`the MCP-Protocol-Version header says "${version}", the body "${inBody}"`)
  if (version !== undefined) checkVersion(version, modernVersions)
}

/** @throws ProtocolError `-32022`, HTTP 400, for a version that the server does not speak. */
function checkVersion(requested: string, supported: readonly string[] | undefined): void {
  if (supported === undefined || supported.includes(requested)) return
  throw new ProtocolError(
    ErrorCode.unsupportedProtocolVersion,
    `Unsupported protocol version: ${requested}`,
    { supported, requested },
    { status: 400 },
  )
}

function toIncoming(sender: Admitted, onStreamEnd: () => void): Incoming {
  const { auth, isHttp, request } = sender
  return {
    ...sender,
    record: auth === undefined ? {} : { clientId: auth.clientId },
    facts: {},
    versionHeader: isHttp ? request.headers.get('mcp-protocol-version') : null,
    envelope: undefined,
    onStreamEnd,
  }
}

function toBatchResponse(texts: readonly string[], incoming: Incoming): Response {
  const answers = texts.filter((text) => text !== '')
  if (answers.length === 0) return accepted(incoming)
  const { platform, headers } = incoming
  return jsonResponse(
    withinLimit(`[${answers.join(',')}]`, undefined, platform.maxResponseBytes),
    200,
    headers,
  )
}

function refuseTraffic(
  { status, message, headers }: Refusal,
  id: RpcId | undefined,
  incoming: Incoming,
): Response {
  const code = ErrorCode.internal
  incoming.record.code = code
  return jsonResponse(errorMessage(id, { code, message }), status, { ...incoming.headers, ...headers })
}

function idOf(message: Message): RpcId | undefined {
  return message.kind === 'request' || message.kind === 'invalid' ? message.id : undefined
}

function accepted({ headers }: Incoming): Response {
  return new Response(null, { status: 202, headers })
}
