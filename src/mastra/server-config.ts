/** The configuration of Mastra's `MCPServer`, as the native one takes it. */
import { present } from '../definition/present.ts'
import {
  checkPrompts,
  type Prompt,
  type PromptCallbacks,
  type PromptRequest,
  type PromptsConfig,
} from '../definition/prompt.ts'
import {
  checkResources,
  type ReadAnswer,
  type Resource,
  type ResourceCallbacks,
  type ResourceContent,
  type ResourceRequest,
  type ResourcesConfig,
} from '../definition/resource.ts'
import { type AnyTool, executeOf } from '../definition/tool.ts'
import type { SdkExtra } from '../sdk/extra.ts'
import type { MastraContext } from './context.ts'
import { hooksOf } from './hooks.ts'
import { fromMastraTool, isMastraTool, withOwnContext } from './tool.ts'

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

/** Tools by the names that clients see: those of `createTool`, of Mastra and of the AI SDK. */
export type ToolsInput = { readonly [name: string]: AnyTool }

type Tools = ToolsInput | undefined

/** Tools as the native server takes them. @throws TypeError for an invalid `resumeSchema` of a tool of Mastra. */
export function toNativeTools(tools: Tools): Tools {
  // A list is refused by the server.
  if (tools === undefined || Array.isArray(tools)) return tools
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toNativeTool(name, tool)]))
}

/** One of them. */
export function toNativeTool(name: string, tool: AnyTool): AnyTool {
  if (typeof tool?.execute !== 'function') return tool
  if (isMastraTool(tool)) return { ...fromMastraTool(name, tool), ...hooksOf(tool) }
  const execute = executeOf(tool)!
  return {
    ...tool,
    ...hooksOf(tool),
    execute: (input: unknown, context: object) => execute.call(tool, withOwnContext(input), context),
  }
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
      getResourceContent: async (request: ResourceRequest & { uri: string }) => {
        const { context } = request
        const asked = withExtra(request)
        const answer = await given.getResourceContent(asked)
        return isTyped(answer)
          ? answer
          : asListed(answer, request.uri, await given.listResources(withExtra({ context })))
      },
    }),
    ...(resourceTemplates !== undefined && {
      resourceTemplates: (request: ResourceRequest) => given.resourceTemplates!(withExtra(request)),
    }),
  } as ResourceCallbacks
}

/** Whether the list is not needed: there is no content, or each part has its type. */
function isTyped(answer: ReadAnswer): boolean {
  return (
    answer === undefined || answer === null || partsOf(answer).every(({ mimeType }) => mimeType !== undefined)
  )
}

/** The content with `mimeType` and `_meta` of the resource in the list, as in Mastra. */
function asListed(answer: ReadAnswer, uri: string, list: readonly Resource[]): ReadAnswer {
  const { mimeType, _meta } = list.find((resource) => resource.uri === uri) ?? {}
  const facts = present({ mimeType, _meta })
  return { contents: partsOf(answer!).map((part) => ({ ...facts, ...part })) }
}

function partsOf(answer: NonNullable<ReadAnswer>): readonly ResourceContent[] {
  if (typeof answer === 'string') return [{ text: answer }]
  if (answer instanceof Uint8Array) return [{ blob: answer }]
  if ('contents' in answer) return answer.contents
  return Array.isArray(answer) ? answer : [answer as ResourceContent]
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
