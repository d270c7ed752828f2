/** Describes a server for tools such as `mayfly doctor`, and its list of tools. */
import type { DeploymentInfo, MCPServerConfig, ToolInfo } from './config.ts'
import type { CompiledTool } from './definition/compiled-tool.ts'
import { present } from './definition/present.ts'
import { tokenAuthOf } from './http/known-callers.ts'
import type { Extensions } from './request/extension.ts'

export function describeDeployment(
  config: MCPServerConfig & { readonly id: string },
  extensions: Extensions | undefined,
  env: unknown,
): DeploymentInfo {
  const { id, auth, bus, subscriptions, http, rendezvous, secret, legacy = 'explain' } = config
  const tokenAuth = env === undefined ? undefined : tokenAuthOf(config)
  const authFault = tokenAuth?.faultIn?.(env, id)
  const signIn = tokenAuth?.signInFacts?.(env)
  return {
    ...(tokenAuth?.keyStore !== undefined && { keyStore: () => tokenAuth.keyStore!(env, id) }),
    ...(authFault !== undefined && { authFault }),
    ...(signIn !== undefined && { signIn }),
    hasBus: bus !== undefined && bus !== false,
    hasSubscriptions: subscriptions !== undefined,
    hasLocalBus: bus !== false && bus?.isLocal === true,
    hasRendezvous: rendezvous !== undefined,
    hasSecret: secret !== undefined,
    legacy,
    hasAuth: auth !== undefined && auth !== 'host',
    ...(http?.publicUrl !== undefined && { publicUrl: http.publicUrl }),
    ...extensions?.facts(env),
    trustsProxy: http?.trustProxy === true,
  }
}

/** `isExplicit`: it is one of the server's own tools, even if an agent or workflow has its name. */
export function describeTool(
  { name, source, tool }: CompiledTool,
  { agents = {}, workflows = {} }: MCPServerConfig,
  { isExplicit }: { readonly isExplicit: boolean },
): ToolInfo {
  const { description, inputSchema, outputSchema } = tool
  const isAgent = !isExplicit && name.startsWith('ask_') && Object.hasOwn(agents, name.slice(4))
  const isWorkflow = !isExplicit && name.startsWith('run_') && Object.hasOwn(workflows, name.slice(4))
  return present<ToolInfo>({
    id: source.id ?? name,
    name,
    description,
    inputSchema,
    outputSchema,
    toolType: isAgent ? 'agent' : isWorkflow ? 'workflow' : 'tool',
  })
}
