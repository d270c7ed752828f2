/** Modern results that clients may keep: discovery, lists, and what is private (MCP 2026-07-28, "Caching"). */
import { asMembers, type JsonMembers } from '../definition/json-members.ts'
import { advertise } from '../interaction/advertise.ts'
import type { CacheHints, MethodResult } from '../request/method-result.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Compose, Run } from './answer.ts'
import { declaredExtensions } from './declared-extensions.ts'
import type { EngineOptions } from './engine-options.ts'
import { META } from './envelope.ts'
import { resultMessage } from './json-rpc.ts'
import { MODERN_VERSIONS } from './versions.ts'

export interface Shared {
  readonly discover: Run
  readonly discovery: Compose
  readonly list: Compose
  readonly private: Compose
}

/** @param serverMeta In each result. @param composePlain For results that are not kept. */
export function createShared(options: EngineOptions, serverMeta: object, composePlain: Compose): Shared {
  const { definition } = options
  const plainMeta = JSON.stringify(serverMeta)
  // Only discovery has the full server info.
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

  const composePrivate: Compose = (result, scope, call) =>
    result.type === 'input_required'
      ? composePlain(result, scope, call)
      : resultMessage(call.id, composeMembers(result, { ttlMs: 0, scope: 'private' }))

  const composeList: Compose = (result, scope, { id, method }) =>
    resultMessage(id, composeMembers(result, listHints(scope, options, asksCallbacks(method, options))))

  const composeDiscovery: Compose = (result, scope, { id }) =>
    resultMessage(id, composeMembers(result, listHints(scope, options, false), discoveryMeta))

  const capabilitiesFor = ({ definition, context: { conditions, env } }: RequestScope): object => ({
    ...advertise(definition, conditions),
    ...declaredExtensions(conditions, env, options),
  })
  const discover = (scope: RequestScope): MethodResult => ({
    members: asMembers(
      `"supportedVersions":${JSON.stringify(MODERN_VERSIONS)},${scope.hidesNames ? '' : instructions}"capabilities":${JSON.stringify(capabilitiesFor(scope))}`,
    ),
  })

  return { discover, discovery: composeDiscovery, list: composeList, private: composePrivate }
}

/** A list is public unless it can depend on the caller: because of `setup`, authorization, a callback that reads the context, or tools that some clients do not see. */
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

function asksCallbacks(method: string, { definition, extensions }: EngineOptions): boolean {
  if (method === 'prompts/list') return definition.prompts.callbacks !== undefined
  if (method === 'tools/list') return extensions?.hidesTools === true
  return method.startsWith('resources/') && definition.resources.callbacks !== undefined
}
