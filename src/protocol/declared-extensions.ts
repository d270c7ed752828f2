/** The extensions that a server declares. */
import type { Conditions } from '../interaction/matrix.ts'
import type { EngineOptions } from './engine-options.ts'

/** What `initialize` and `server/discover` declare besides MCP's own: the extensions, and those of servers behind this one. */
export function declaredExtensions(
  conditions: Conditions,
  env: unknown,
  options: EngineOptions,
): object | undefined {
  const own = options.extensions?.capabilities(conditions, env)
  const behind = options.gateway?.extensions(conditions.era, env, options)
  return behind === undefined ? own : { ...own, extensions: { ...behind, ...own?.extensions } }
}
