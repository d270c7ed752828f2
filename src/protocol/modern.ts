/** The modern era: 2026-07-28. Each request names its client and version; the engine already checked both. */
import { withPart } from '../definition/part.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { findMethod } from '../request/dispatch.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import type { Params } from '../request/params.ts'
import { type Compose, type Run, RunningCall } from './answer.ts'
import { modernRounds } from './asking.ts'
import type { Call } from './call.ts'
import { definitionOf } from './conditions.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { META } from './envelope.ts'
import type { RpcId } from './json-rpc.ts'
import type { Hold, Listen } from './listen.ts'
import { loadShared } from './load-modern.ts'
import type { Shared } from './modern-shared.ts'
import type { Reply } from './reply.ts'

export type ModernRequest = { readonly id: RpcId; readonly method: string; readonly params: Params }

/** A method of MCP, or of an extension. */
type Served = { readonly run: Run } & Pick<ExtensionMethod, 'caching' | 'hold'>

export type ServeModern = (request: ModernRequest, incoming: Incoming) => Reply | Promise<Reply>

/** Precomputes the members that all modern responses share. */
export function createModern(options: EngineOptions, listen: Listen): ServeModern {
  const { definition } = options
  // Each result has name and version; only discovery has the full server info.
  const { name, version } = definition.serverInfo
  const serverMeta = { [META.serverInfo]: { name, version } }
  const plainMeta = JSON.stringify(serverMeta)

  /** Of most methods, so in one step. */
  const composePlain: Compose = ({ members, meta, type = 'complete' }, _scope, { id }) => {
    const metaJson = meta === undefined ? plainMeta : JSON.stringify({ ...serverMeta, ...meta })
    const before = members === '' ? '' : `${members},`
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${before}"resultType":"${type}","_meta":${metaJson}}}`
  }

  let shared: Shared | undefined
  /** What is not `tools/call` or `prompts/get`, once its code is loaded. */
  const later = (use: (shared: Shared) => Reply | Promise<Reply>): Reply | Promise<Reply> =>
    withPart(loadShared, ({ createShared }) => {
      shared ??= createShared(options, serverMeta, composePlain)
      return use(shared)
    })

  return ({ id, method, params }, incoming) => {
    const { protocolVersion, clientInfo, clientCapabilities, logLevel } = incoming.envelope!
    if (clientInfo !== undefined) incoming.facts.client = clientInfo
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

    if (method === 'subscriptions/listen') return listen.serve(call, incoming)
    if (method === 'server/discover') {
      return later(({ discover, discovery }) =>
        new RunningCall(call, incoming, options, discovery).answer(discover),
      )
    }
    const entry: Served | undefined =
      findMethod(method, 'modern', definitionOf(incoming, options)) ??
      options.gateway?.method(method, params, options) ??
      options.extensions?.method(method, 'modern')
    if (entry === undefined)
      throw new ProtocolError(ErrorCode.methodNotFound, `Method not found: ${method}`, undefined, {
        status: 404,
      })
    const { run, caching, hold } = entry
    if (hold !== undefined) return (hold as Hold)(call, incoming, options, composePlain, listen.reserve)
    return caching === undefined
      ? new RunningCall(call, incoming, options, composePlain).answer(run)
      : later((compose) => new RunningCall(call, incoming, options, compose[caching]).answer(run))
  }
}
