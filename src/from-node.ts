/**
 * Serves any Node `(req, res)` MCP handler on platforms that use fetch. A separate entry point, since it needs Node's streams.
 */
export { type FromNodeOptions, fromNode, type NodeHandler } from './sdk/from-node.ts'
export type { GuardedNames } from './sdk/guarded.ts'
export type { HostedConfig, HostedServer } from './sdk/host.ts'
