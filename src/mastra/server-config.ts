/** The configuration of Mastra's `MCPServer`, as the native one takes it. */
import {
  checkPrompts,
  type Prompt,
  type PromptCallbacks,
  type PromptRequest,
  type PromptsConfig,
} from '../definition/prompt.ts'
import {
  checkResources,
  type ResourceCallbacks,
  type ResourceRequest,
  type ResourcesConfig,
} from '../definition/resource.ts'
import type { AnyTool } from '../definition/tool.ts'
import type { SdkExtra } from '../sdk/extra.ts'
import type { MastraContext } from './context.ts'
import { hooksOf } from './hooks.ts'
import { fromMastraTool, isMastraTool } from './tool.ts'

/** The argument of the callbacks. */
export interface MastraRequest {
  context: MastraContext
  extra: SdkExtra
}

/** Callbacks that list and read resources. */
export type MCPServerResources = ResourceCallbacks<MastraRequest>

/** Callbacks that list prompts and fill them in. */
export type MCPServerPrompts = PromptCallbacks<MastraRequest>

/** A prompt with an optional version. */
export type VersionedPrompt = Prompt

type Tools = { readonly [name: string]: AnyTool } | undefined

/** Tools as the native server takes them. @throws TypeError for an invalid `resumeSchema` of a tool of Mastra. */
export function toNativeTools(tools: Tools): Tools {
  // A list is refused by the server.
  if (tools === undefined || Array.isArray(tools)) return tools
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toNativeTool(name, tool)]))
}

function toNativeTool(name: string, tool: AnyTool): AnyTool {
  if (typeof tool?.execute !== 'function') return tool
  const hooked = { ...tool, ...hooksOf(tool) }
  return isMastraTool(tool) ? { ...fromMastraTool(name, tool), ...hooksOf(tool) } : hooked
}

/** Callbacks get `extra`; declarations are taken as they are. */
export function toNativeResources(
  config: ResourcesConfig<MastraRequest> | undefined,
): ResourcesConfig | undefined {
  if (config === undefined || typeof (config as MCPServerResources).listResources !== 'function')
    return config as Exclude<ResourcesConfig, ResourceCallbacks>
  checkResources(config as ResourcesConfig)
  const given = config as MCPServerResources
  const { getResourceContent, resourceTemplates, canSubscribe } = given
  return {
    ...(canSubscribe !== undefined && { canSubscribe: (...asked) => given.canSubscribe!(...asked) }),
    listResources: (request) => given.listResources(withExtra(request)),
    ...(getResourceContent !== undefined && {
      getResourceContent: (request: ResourceRequest & { uri: string }) =>
        given.getResourceContent(withExtra(request)),
    }),
    ...(resourceTemplates !== undefined && {
      resourceTemplates: (request: ResourceRequest) => given.resourceTemplates!(withExtra(request)),
    }),
  } as ResourceCallbacks
}

/** Callbacks get `extra`; declarations are taken as they are. */
export function toNativePrompts(config: PromptsConfig<MastraRequest> | undefined): PromptsConfig | undefined {
  if (config === undefined || typeof (config as MCPServerPrompts).listPrompts !== 'function')
    return config as Exclude<PromptsConfig, PromptCallbacks>
  checkPrompts(config as PromptsConfig)
  const given = config as MCPServerPrompts
  return {
    ...(given.complete !== undefined && { complete: given.complete }),
    listPrompts: (request) => given.listPrompts(withExtra(request)),
    ...(given.getPromptMessages !== undefined && {
      getPromptMessages: (request: Parameters<PromptCallbacks<PromptRequest>['getPromptMessages']>[0]) =>
        given.getPromptMessages(withExtra(request)),
    }),
  } as PromptCallbacks
}

function withExtra<Request extends ResourceRequest>(request: Request): Request & MastraRequest {
  const context = request.context as MastraContext
  return { ...request, context, extra: context.mcp.extra }
}
