/**
 * Compiles a user's configuration to the frozen definition that requests are served from. Runs once per server.
 */
import { type AgentLike, agentTool, type WorkflowLike, workflowTool } from './agent.ts'
import { type CompiledTool, compileTool } from './compiled-tool.ts'
import type { Implementation } from './context.ts'
import { type AnyPrompt, type CompiledPrompts, compilePrompts, type PromptsConfig } from './prompt.ts'
import {
  type CompiledResources,
  compileResources,
  type ResourceConfig,
  type ResourcesConfig,
} from './resource.ts'
import type { AnyTool } from './tool.ts'

export interface DefinitionSource {
  readonly serverInfo: Implementation
  readonly instructions: string | undefined
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly agents: { readonly [key: string]: AgentLike }
  readonly workflows: { readonly [key: string]: WorkflowLike }
  readonly resources: ResourcesConfig | undefined
  readonly registeredResources: readonly ResourceConfig[]
  readonly prompts: PromptsConfig | undefined
  readonly registeredPrompts: readonly (readonly [string, AnyPrompt])[]
  /** Whether anything that is added to this definition later may need a scope. */
  readonly hasOtherScopes: boolean | undefined
  /** Called once per naming collision. */
  readonly warn: (message: string) => void
}

/** The compiled, frozen definition, shared by all requests. */
export interface Definition {
  readonly serverInfo: Implementation
  readonly instructions: string | undefined
  readonly tools: ReadonlyMap<string, CompiledTool>
  readonly resources: CompiledResources
  readonly prompts: CompiledPrompts
  readonly hasTools: boolean
  readonly hasResources: boolean
  readonly hasPrompts: boolean
  readonly hasCompletions: boolean
  /** Whether anything in it needs a scope, so that access depends on the caller. */
  readonly hasScopes: boolean
  /** Whether items are missing that may be there soon, so that no client should keep the lists. */
  readonly isIncomplete?: boolean
}

/**
 * Compiles the definition. The schemas of a tool or prompt are compiled at its first use.
 *
 * @throws TypeError naming the invalid tool, resource, prompt, agent or workflow.
 */
export function compileDefinition(source: DefinitionSource): Definition {
  const tools = new Map<string, CompiledTool>()
  let hasScopes = source.hasOtherScopes === true
  const add = (tool: AnyTool, name: string): void => {
    tools.set(name, compileTool(name, tool))
    hasScopes ||= needsScope(tool)
  }
  source.tools.forEach(add)
  for (const [name, tool] of derivedTools(source)) {
    if (tools.has(name))
      source.warn(
        `Tool "${name}" is defined explicitly and also comes from an agent or workflow: the explicit one wins.`,
      )
    else add(tool, name)
  }
  const resources = compileResources(source.resources, source.registeredResources)
  const prompts = compilePrompts(source.prompts, source.registeredPrompts)
  return Object.freeze({
    serverInfo: source.serverInfo,
    instructions: source.instructions,
    tools,
    resources,
    prompts,
    hasTools: tools.size > 0,
    hasResources:
      resources.fixed.size > 0 || resources.templates.length > 0 || resources.callbacks !== undefined,
    hasPrompts: prompts.declared.size > 0 || prompts.callbacks !== undefined,
    hasCompletions:
      resources.templates.some(({ config }) => config.complete !== undefined) ||
      prompts.callbacks?.complete !== undefined ||
      [...prompts.declared.values()].some(({ config }) => config.complete !== undefined),
    hasScopes:
      hasScopes ||
      [...prompts.declared.values(), ...resources.fixed.values(), ...resources.templates].some(({ config }) =>
        needsScope(config),
      ),
  })
}

function needsScope({ scopes }: { readonly scopes?: readonly string[] | undefined }): boolean {
  return !!scopes?.length
}

function* derivedTools(source: DefinitionSource): Iterable<readonly [string, AnyTool]> {
  for (const [key, agent] of Object.entries(source.agents)) yield [`ask_${key}`, agentTool(key, agent)]
  for (const [key, workflow] of Object.entries(source.workflows))
    yield [`run_${key}`, workflowTool(key, workflow)]
}
