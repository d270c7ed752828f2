/** The modern era: 2026-07-28. Each request names its client and version; the engine already checked both. */
import { asMembers, type JsonMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { advertise } from '../interaction/matrix.ts'
import { findMethod } from '../request/dispatch.ts'
import type { CacheHints, MethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import { answer, type Compose } from './answer.ts'
import { modernRounds } from './asking.ts'
import type { Call } from './call.ts'
import { definitionOf } from './conditions.ts'
import { clientLabel } from './describe.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { META } from './envelope.ts'
import { type RpcId, resultMessage } from './json-rpc.ts'
import type { ServeListen } from './listen.ts'
import type { Reply } from './reply.ts'
import { MODERN_VERSIONS } from './versions.ts'

export type ModernRequest = { readonly id: RpcId; readonly method: string; readonly params: Params }

export type ServeModern = (request: ModernRequest, incoming: Incoming) => Reply | Promise<Reply>

/** Precomputes the members that all modern responses share. */
export function createModern(options: EngineOptions, serveListen: ServeListen): ServeModern {
  const { definition } = options
  // Each result has name and version; only discovery has the full server info.
  const { name, version } = definition.serverInfo
  const serverMeta = { [META.serverInfo]: { name, version } }
  const plainMeta = JSON.stringify(serverMeta)
  const discoveryMeta = JSON.stringify({ [META.serverInfo]: definition.serverInfo })
  const instructions =
    definition.instructions === undefined ? '' : `"instructions":${JSON.stringify(definition.instructions)},`

  const composeMembers = (
    { members, meta, type }: MethodResult,
    cache: CacheHints,
    ownMeta = plainMeta,
  ): JsonMembers => {
    const hints = `,"ttlMs":${cache.ttlMs},"cacheScope":"${cache.scope}"`
    const metaJson = meta === undefined ? ownMeta : JSON.stringify({ ...serverMeta, ...meta })
    return asMembers(
      `${members}${members === '' ? '' : ','}"resultType":"${type ?? 'complete'}"${hints},"_meta":${metaJson}`,
    )
  }

  /** Of most methods, so in one step. */
  const composePlain: Compose = ({ members, meta, type = 'complete' }, _scope, { id }) => {
    const metaJson = meta === undefined ? plainMeta : JSON.stringify({ ...serverMeta, ...meta })
    const before = members === '' ? '' : `${members},`
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${before}"resultType":"${type}","_meta":${metaJson}}}`
  }

  const composePrivate: Compose = (result, scope, call) =>
    result.type === 'input_required'
      ? composePlain(result, scope, call)
      : resultMessage(call.id, composeMembers(result, { ttlMs: 0, scope: 'private' }))

  const composeList: Compose = (result, scope, { id, method }) =>
    resultMessage(id, composeMembers(result, listHints(scope, options, asksCallbacks(method, options))))

  const composeDiscovery: Compose = (result, scope, { id }) =>
    resultMessage(id, composeMembers(result, listHints(scope, options, false), discoveryMeta))

  const COMPOSE = { plain: composePlain, private: composePrivate, list: composeList }

  const discover = ({ definition, context: { conditions }, hidesNames }: RequestScope): MethodResult => ({
    members: asMembers(
      `"supportedVersions":${JSON.stringify(MODERN_VERSIONS)},${hidesNames ? '' : instructions}"capabilities":${JSON.stringify(advertise(definition, conditions))}`,
    ),
  })

  return ({ id, method, params }, incoming) => {
    const { protocolVersion, clientInfo, clientCapabilities, logLevel } = incoming.envelope!
    if (clientInfo !== undefined) incoming.record.client = clientLabel(clientInfo)
    const call: Call = {
      id,
      method,
      params,
      era: 'modern',
      protocolVersion,
      clientInfo,
      clientCapabilities,
      logLevel,
      sessionId: undefined,
      rounds: modernRounds(params),
    }

    if (method === 'subscriptions/listen') return serveListen(call, incoming)
    if (method === 'server/discover') {
      return answer(call, incoming, options, discover, composeDiscovery)
    }
    const entry =
      findMethod(method, 'modern', definitionOf(incoming, options)) ??
      options.gateway?.taskMethod(method, params, options) ??
      options.tasks?.method(method)
    if (entry === undefined)
      throw new ProtocolError(ErrorCode.methodNotFound, `Method not found: ${method}`, undefined, {
        status: 404,
      })
    return answer(call, incoming, options, entry.run, COMPOSE[entry.caching ?? 'plain'])
  }
}

/** A list is public unless it can depend on the caller: because of `setup`, authorization, a callback that reads the context, or tools for clients without tasks. */
function listHints(
  { hasAccess, definition: { isIncomplete } }: RequestScope,
  { cache, setup, gateway }: EngineOptions,
  asksCallback: boolean,
): CacheHints {
  const dependsOnCaller = (setup ?? gateway) !== undefined || hasAccess || asksCallback
  return {
    ttlMs: isIncomplete ? 0 : cache.ttlMs,
    scope: dependsOnCaller ? 'private' : (cache.scope ?? 'public'),
  }
}

function asksCallbacks(method: string, { definition, tasks }: EngineOptions): boolean {
  if (method === 'prompts/list') return definition.prompts.callbacks !== undefined
  if (method === 'tools/list') return tasks?.hasTools === true
  return definition.resources.callbacks !== undefined
}
