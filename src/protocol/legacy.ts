/** The legacy era: 2025-03-26 to 2025-11-25, stateless. The declarations of `initialize` are in a token, which is the `Mcp-Session-Id`. */

import type { LogLevel } from '../definition/context.ts'
import { isObject } from '../definition/is-object.ts'
import { asMembers, type JsonMembers, membersOf, NO_MEMBERS } from '../definition/json-members.ts'
import { ErrorCode, invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import { advertise } from '../interaction/advertise.ts'
import type { Seal } from '../interaction/seal.ts'
import { hidesNames } from '../request/access.ts'
import { findMethod } from '../request/dispatch.ts'
import type { MethodResult } from '../request/method-result.ts'
import { objectParam, type Params, stringParam } from '../request/params.ts'
import type { ClientSession } from '../request/platform.ts'
import { principalOf } from '../request/principal.ts'
import { type Compose, type Run, RunningCall } from './answer.ts'
import type { Call, EarlierRounds } from './call.ts'
import { conditionsOf, definitionOf } from './conditions.ts'
import { declaredExtensions } from './declared-extensions.ts'
import { createDeclaredTokens, type Declared, type DeclaredTokens } from './declared-token.ts'
import { clientLabel, clip } from './describe.ts'
import type { EngineOptions, Incoming, StreamServer } from './engine-options.ts'
import { isImplementation, isLogLevel } from './envelope.ts'
import { type RpcId, resultMessage } from './json-rpc.ts'
import { legacyRounds } from './legacy-rounds.ts'
import type { Hold, Listen } from './listen.ts'
import { jsonReply, type Reply } from './reply.ts'
import { withinLimit } from './response-limit.ts'
import { DEFAULT_LEGACY_VERSION, LEGACY_VERSIONS } from './versions.ts'

export { deliver } from './deliver.ts'

export type LegacyRequest = { readonly id: RpcId; readonly method: string; readonly params: Params }

export type ServeLegacy = (request: LegacyRequest, incoming: Incoming) => Reply | Promise<Reply>

/** A stateless server cannot remember `logging/setLevel`, so every legacy client gets messages from this level up. */
const LOG_LEVEL: LogLevel = 'info'

/** Milliseconds for opening the stream of a session: several answers of its store and of the bus. */
const OPEN_TIMEOUT_MS = 3 * ANSWER_TIMEOUT_MS

/** Maximum UTF-16 units of the JSON that `initialize` may declare in a session, which stores it. */
const MAX_DECLARED_CHARACTERS = 32_768

export function createLegacy(options: EngineOptions, listen: Listen): ServeLegacy {
  const tokens = createDeclaredTokens()
  return (request, incoming) => {
    const { id, method } = request
    if (method === 'initialize') return initialize(id, request.params, incoming, options, tokens)
    const lasting = incoming.platform.session
    const { rounds, params } = legacyRounds(method, request.params)
    const seal = sealOf(incoming, options)
    const token = incoming.sent.get('mcp-session-id')
    const serve = (declared: Declared | undefined) => {
      // Only a sealed id identifies a client.
      const server = { session: (declared && seal && token) || undefined, options, open: listen.open }
      if (incoming.request.method !== 'POST') {
        const opening = options.subscriptions!.handleStream(incoming, server)
        return withTimeout(opening, OPEN_TIMEOUT_MS, 'store of subscriptions')
      }
      const served = find(method, params, incoming, server)
      if (served === undefined)
        throw new ProtocolError(ErrorCode.methodNotFound, `Method not found: ${method}`)
      const call = toCall({ id, method, params }, rounds, declared, incoming)
      const compose: Compose = (result) => resultMessage(id, withMeta(result))
      return served.hold === undefined
        ? new RunningCall(call, incoming, options, compose).answer(served.run)
        : (served.hold as Hold)(call, incoming, options, compose, listen.reserve)
    }
    if (lasting !== undefined) return serve(lasting.declared)
    const declared = tokens.read(token, seal, principalOf(incoming))
    return declared instanceof Promise ? declared.then(serve) : serve(declared)
  }

  function find(
    method: string,
    params: Params,
    incoming: Incoming,
    server: StreamServer,
  ): { readonly run: Run; readonly hold?: unknown } | undefined {
    const { session } = incoming.platform
    const definition = definitionOf(incoming, options)
    if (method === 'ping') return { run: () => ({ members: NO_MEMBERS }) }
    if (method === 'logging/setLevel') return { run: () => setLevel(params, session) }
    const { subscriptions } = session ?? options
    if (
      subscriptions !== undefined &&
      definition.hasResources &&
      /^resources\/(un)?subscribe$/.test(method)
    ) {
      const run = async (): Promise<MethodResult> => {
        await subscriptions.change(method, stringParam(params, 'uri'), incoming, server)
        return { members: NO_MEMBERS }
      }
      return { run }
    }
    return findMethod(method, 'legacy', definition) ?? options.extensions?.method(method, 'legacy')
  }
}

function withMeta({ members, meta }: MethodResult): JsonMembers {
  if (meta === undefined) return members
  return asMembers(`${members}${members === '' ? '' : ','}"_meta":${JSON.stringify(meta)}`)
}

function toCall(
  { id, method, params }: LegacyRequest,
  rounds: EarlierRounds | undefined,
  declared: Declared | undefined,
  incoming: Incoming,
): Call {
  const protocolVersion = incoming.versionHeader ?? declared?.protocolVersion ?? DEFAULT_LEGACY_VERSION
  recordClient(incoming, protocolVersion, declared?.clientInfo)
  return {
    id,
    method,
    params,
    rounds,
    era: 'legacy',
    protocolVersion,
    clientInfo: declared?.clientInfo,
    clientCapabilities: declared?.clientCapabilities ?? {},
    logLevel: incoming.platform.session?.logLevel ?? LOG_LEVEL,
    sessionId: sessionIdOf(declared, incoming),
  }
}

function sessionIdOf(declared: Declared | undefined, { platform, sent }: Incoming): string | undefined {
  if (platform.session !== undefined) return platform.session.id
  return declared === undefined ? undefined : (sent.get('mcp-session-id') ?? undefined)
}

/** Version negotiation (MCP 2025-11-25, "Lifecycle"): the requested version if it is supported, else the newest supported one. */
async function initialize(
  id: RpcId,
  params: Params,
  incoming: Incoming,
  options: EngineOptions,
  tokens: DeclaredTokens,
): Promise<Reply> {
  const requested = stringParam(params, 'protocolVersion')
  const clientCapabilities = objectParam(params, 'capabilities')
  const { clientInfo } = params
  if (!isImplementation(clientInfo))
    throw invalidParams('Invalid params: "clientInfo" needs a string "name" and "version".')
  if (!Object.values(clientCapabilities).every(isObject))
    throw invalidParams('Invalid params: every capability must be an object.')
  const protocolVersion = (LEGACY_VERSIONS as readonly string[]).includes(requested)
    ? requested
    : LEGACY_VERSIONS[0]
  const declared: Declared = { protocolVersion, clientInfo, clientCapabilities }
  const lasting = incoming.platform.session
  if (lasting !== undefined) {
    if (JSON.stringify([clientInfo, clientCapabilities]).length > MAX_DECLARED_CHARACTERS)
      throw invalidParams(
        `Invalid params: "clientInfo" and "capabilities" may have at most ${MAX_DECLARED_CHARACTERS} characters of JSON in a session.`,
      )
    lasting.declared = declared
  }
  recordClient(incoming, protocolVersion, clientInfo)
  const token = lasting
    ? undefined
    : await tokens.write(declared, sealOf(incoming, options), principalOf(incoming))
  const conditions = conditionsOf({ era: 'legacy', protocolVersion, clientCapabilities }, incoming, options)
  const capabilities = {
    ...advertise(definitionOf(incoming, options), {
      ...conditions,
      // Without an id there is no session to subscribe in.
      ...(token === undefined && { hasSubscriptions: false }),
    }),
    ...declaredExtensions(conditions, incoming.platform.env, options),
  }
  const { serverInfo, instructions, hasScopes } = options.definition
  const mayRead = instructions !== undefined && !hidesNames(incoming.access, hasScopes)
  const result = JSON.stringify({
    protocolVersion,
    capabilities,
    serverInfo,
    ...(mayRead && { instructions }),
  })
  const message = withinLimit(resultMessage(id, membersOf(result)), id, incoming.platform.maxResponseBytes)
  if (lasting !== undefined) return jsonReply(message, 200, incoming.headers)
  return jsonReply(message, 200, {
    ...incoming.headers,
    ...(token !== undefined && { 'mcp-session-id': token }),
  })
}

function sealOf({ platform }: Incoming, { asking }: EngineOptions): Seal | undefined {
  return asking.sealFor(platform.env)
}

/** Stored if there is a session. */
function setLevel({ level }: Params, session: ClientSession | undefined): MethodResult {
  if (!isLogLevel(level)) throw invalidParams('Invalid params: "level" must be a log level.')
  if (session !== undefined) session.logLevel = level
  return { members: NO_MEMBERS }
}

function recordClient(
  { record: entry }: Incoming,
  protocolVersion: string,
  client: Declared['clientInfo'],
): void {
  entry.protocolVersion = clip(protocolVersion)
  if (client !== undefined) entry.client = clientLabel(client)
}
