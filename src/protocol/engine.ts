/**
 * The engine: from the body of a POST to its response, in both eras on one endpoint. Classification is by the body;
 * the `MCP-Protocol-Version` header is only checked against it (MCP 2026-07-28, "Versioning and Compatibility").
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { QUESTION_ID, rendezvousKey } from '../interaction/legacy.ts'
import { describeError } from './answer.ts'
import { principalOf } from './asking.ts'
import { hasEnvelope } from './envelope.ts'
import { jsonResponse } from './exchange.ts'
import { mismatch } from './headers.ts'
import { isObject, type Message, parseJson, type RpcId, readMessage } from './json-rpc.ts'
import { createLegacy } from './legacy.ts'
import { createListen } from './listen.ts'
import { checkModernVersion, createModern } from './modern.ts'
import type { EngineOptions, Incoming } from './options.ts'
import { withinLimit } from './response-limit.ts'
import { createTraced, type ServeMessage } from './traced.ts'
import {
  BATCH_VERSION,
  isLegacyVersion,
  isModernVersion,
  LEGACY_VERSIONS,
  UNNAMED_VERSION,
} from './versions.ts'

export type Engine = (incoming: Incoming) => Promise<Response>

/** More messages than this in one batch are refused. */
const MAX_BATCH = 100

/** Makes the engine of one server; what every request shares is computed here. Never throws, never rejects. */
export function createEngine(options: EngineOptions): Engine {
  const serveModern = createModern(options, createListen(options))
  const serveLegacy = createLegacy(options)
  const limits = {
    maxDepth: options.maxJsonDepth,
    maxMembers: options.maxJsonMembers,
    maxStringCharacters: options.maxStringCharacters,
  }

  const refuse = (error: unknown, id: RpcId | undefined, incoming: Incoming): Response => {
    const { message, status, headers } = describeError(error, id, incoming, options)
    // What no method has answered is a fault of the server as a whole.
    const isServed = error instanceof ProtocolError
    return jsonResponse(message, isServed ? status : 500, { ...incoming.headers, ...headers })
  }

  const serveRequest = (
    request: Message & { kind: 'request' },
    incoming: Incoming,
  ): Response | Promise<Response> => {
    const version = incoming.request.headers.get('mcp-protocol-version')
    const namesModern = version !== null && isModernVersion(version)
    describe(request, incoming)
    if (hasEnvelope(request.params)) return modern(request, incoming)
    if (request.method === 'initialize' && namesModern) {
      throw mismatch(
        'initialize is a legacy request, but the MCP-Protocol-Version header names a modern version',
      )
    }
    if (namesModern) return modern(request, incoming) // refused there: its _meta is missing
    checkLegacyVersion(version)
    incoming.record.era = 'legacy'
    return serveLegacy(request, incoming)
  }

  const modern = (
    request: Message & { kind: 'request' },
    incoming: Incoming,
  ): Response | Promise<Response> => {
    incoming.record.era = 'modern'
    return serveModern(request, incoming)
  }

  /** An answer to a question that a legacy client was asked on another request's stream. */
  const deliver = async (
    { id, answer }: Message & { kind: 'response' },
    incoming: Incoming,
  ): Promise<void> => {
    const { session, env } = incoming.platform
    const rendezvous = session?.rendezvous ?? options.asking.rendezvousFor(env)
    if (rendezvous === undefined || typeof id !== 'string' || !id.startsWith(QUESTION_ID)) return
    await rendezvous.deliver(rendezvousKey(id, principalOf(incoming)), answer ?? null)
  }

  const serveMessage = async (message: Message, incoming: Incoming): Promise<Response> => {
    try {
      if (message.kind === 'request') return await serveRequest(message, incoming)
      if (message.kind === 'invalid') throw invalidRequest(message.reason)
      if (message.kind === 'notification') incoming.record.method = message.method
      checkUnanswered(message.kind, incoming.request.headers.get('mcp-protocol-version'))
      if (message.kind === 'response') await deliver(message, incoming)
      return accepted(incoming)
    } catch (error) {
      return refuse(
        error,
        message.kind === 'response' || !('id' in message) ? undefined : message.id,
        incoming,
      )
    }
  }

  const serve = options.telemetry === undefined ? serveMessage : createTraced(options.telemetry, serveMessage)

  return async (incoming) => {
    try {
      const value = parseJson(incoming.body, limits)
      return Array.isArray(value)
        ? await serveBatch(value, incoming, serve)
        : await serve(readMessage(value), incoming)
    } catch (error) {
      return refuse(error, undefined, incoming)
    }
  }
}

/** Batches exist in 2025-03-26 alone. Each message is served as if it had come alone, and answered in JSON. */
async function serveBatch(
  values: readonly unknown[],
  incoming: Incoming,
  serveMessage: ServeMessage,
): Promise<Response> {
  const version = incoming.request.headers.get('mcp-protocol-version') ?? UNNAMED_VERSION
  if (version !== BATCH_VERSION)
    throw invalidRequest(`batches exist in ${BATCH_VERSION} only, not in ${version}`)
  if (values.length === 0) throw invalidRequest('a batch must not be empty')
  if (values.length > MAX_BATCH) throw invalidRequest(`a batch may hold at most ${MAX_BATCH} messages`)
  const messages = values.map(readMessage)
  for (const message of messages) {
    if (message.kind === 'invalid')
      throw invalidRequest(`the batch holds a message in which ${message.reason}`)
    if (message.kind !== 'request') continue
    if (hasEnvelope(message.params)) throw invalidRequest('a batch must not hold modern requests')
    if (message.method === 'initialize') throw invalidRequest('initialize must not be part of a batch')
  }
  // Buffered: the answers of a batch are one JSON array.
  const buffered: Incoming = { ...incoming, platform: { ...incoming.platform, canStream: false } }
  const requests = messages.filter((message) => message.kind === 'request')
  // An answer may come in a batch, too.
  const answers = messages.filter((message) => message.kind === 'response')
  await Promise.all(answers.map((message) => serveMessage(message, buffered)))
  if (requests.length === 0) return accepted(incoming)
  const responses = await Promise.all(
    requests.map(async (message) => (await serveMessage(message, buffered)).text()),
  )
  incoming.record.method = 'batch'
  const array = `[${responses.filter((text) => text !== '').join(',')}]`
  return jsonResponse(
    withinLimit(array, undefined, incoming.platform.maxResponseBytes),
    200,
    incoming.headers,
  )
}

/** What needs no answer is dropped, but not in a version we do not speak (Streamable HTTP, "Protocol Version Header"). */
function checkUnanswered(kind: 'notification' | 'response', version: string | null): void {
  if (version === null || !isModernVersion(version)) {
    checkLegacyVersion(version)
    return
  }
  checkModernVersion(version)
  if (kind === 'response') throw invalidRequest('clients do not send responses in this version')
}

function checkLegacyVersion(version: string | null): void {
  if (version === null || isLegacyVersion(version)) return
  throw invalidRequest(
    `the MCP-Protocol-Version header names ${JSON.stringify(version.slice(0, 40))}; legacy versions served here are ${LEGACY_VERSIONS.join(', ')}`,
  )
}

function describe({ method, params }: Message & { kind: 'request' }, { record, facts }: Incoming): void {
  record.method = method
  facts.arguments = params.arguments
  const { name, uri } = isObject(params.ref) ? params.ref : params
  const target = name ?? uri
  if (typeof target === 'string') record.target = target
}

function invalidRequest(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidRequest, `Invalid request: ${reason}.`, undefined, {
    status: 400,
  })
}

function accepted({ headers }: Incoming): Response {
  return new Response(null, { status: 202, headers })
}
