/** The definition of a server with the items of the servers behind it. The server's own items come first and win. */
import { findStarted, TASKS_EXTENSION, type Task } from '../client/task.ts'
import { asStandard } from '../client/tools.ts'
import type { Definition } from '../definition/compile.ts'
import type { CompiledTool } from '../definition/compiled-tool.ts'
import { compileTool } from '../definition/compiled-tool.ts'
import type { Complete, Completers } from '../definition/completion.ts'
import type { CallToolResult, GetPromptResult } from '../definition/content.ts'
import { isA, textOf } from '../definition/error-text.ts'
import type { CompiledPrompt, Prompt } from '../definition/prompt.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import type { CompiledFixedResource, CompiledTemplateResource, ReadAnswer } from '../definition/resource.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { templateVariables } from '../definition/template-variables.ts'
import type { Tool } from '../definition/tool.ts'
import type { Context } from '../request/context.ts'
import type { GatewayHost } from '../request/gateway-support.ts'
import type { StartedTask } from '../request/method-result.ts'
import type { ReportError } from '../request/options.ts'
import { findResource } from '../request/resources.ts'
import { isDeclared } from '../tasks/declared.ts'
import { toCallerResult } from './failure.ts'
import { isIncluded } from './included.ts'
import type { GatewayItem } from './options.ts'
import { type RelayOptions, relay } from './relay.ts'
import { scopesOf } from './scopes.ts'
import { toHandle } from './tasks.ts'
import type { Lists, Upstream } from './upstream.ts'

export interface Source {
  readonly upstream: Upstream
  /** Undefined if the server has not answered yet. */
  readonly lists: Lists | undefined
}

/** Called once for each item that is left out, with the reason. */
type LeaveOut = (upstream: Upstream, item: GatewayItem, why: string) => void

/** The server that a merged resource or template is of. */
const servers = new WeakMap<object, Upstream>()

/** The server behind that serves a URI; undefined for another one. */
export function serverOf({ resources }: Definition, uri: string): Upstream | undefined {
  const config = findResource(resources, uri)?.config
  return config && servers.get(config)
}

interface Merging {
  readonly tools: Map<string, CompiledTool>
  readonly fixed: Map<string, CompiledFixedResource>
  readonly templates: Map<string, CompiledTemplateResource>
  readonly prompts: Map<string, CompiledPrompt>
  readonly reportError: ReportError
  readonly sealFor: SealFor
  readonly leaveOut: LeaveOut
}

type SealFor = GatewayHost['asking']['sealFor']

export function mergeDefinitions(
  own: Definition,
  sources: readonly Source[],
  { reportError, asking, use }: GatewayHost,
  leaveOut: LeaveOut,
): Definition {
  const merging: Merging = {
    tools: new Map(own.tools),
    fixed: new Map(own.resources.fixed),
    templates: new Map(own.resources.templates.map((one) => [one.resourceTemplate.uriTemplate, one])),
    prompts: new Map(own.prompts.declared),
    reportError,
    sealFor: use ? () => undefined : asking.sealFor,
    leaveOut,
  }
  for (const { upstream, lists } of sources) if (lists !== undefined) addServer(merging, upstream, lists)
  const has = (kind: 'resources' | 'prompts' | 'completions'): boolean =>
    sources.some(({ lists }) => lists === undefined || lists.capabilities[kind] !== undefined)
  return Object.freeze({
    ...own,
    tools: merging.tools,
    resources: {
      fixed: merging.fixed,
      templates: [...merging.templates.values()],
      callbacks: own.resources.callbacks,
    },
    prompts: { declared: merging.prompts, callbacks: own.prompts.callbacks },
    hasTools: true,
    hasResources: own.hasResources || has('resources'),
    hasPrompts: own.hasPrompts || has('prompts'),
    hasCompletions: own.hasCompletions || has('completions'),
  })
}

function addServer(merging: Merging, upstream: Upstream, lists: Lists): void {
  const { reportError } = merging
  const isOffered = lists.capabilities.extensions?.[TASKS_EXTENSION] !== undefined
  const sealFor = 'url' in upstream.server && isOffered ? merging.sealFor : undefined
  const relayed = { upstream, prior: lists.prior, reportError, sealFor }
  const completes = lists.capabilities.completions !== undefined
  const canSubscribe = (): boolean => lists.capabilities.resources?.subscribe === true
  const served = <Config extends object>(config: Config): Config => {
    servers.set(config, upstream)
    return config
  }
  /** Adds an item unless its name is taken, the server's options leave it out, or it cannot be served. */
  const add = <Kept>(
    into: Map<string, Kept>,
    name: string,
    item: GatewayItem,
    compile: (scopes: { scopes?: readonly string[] }) => Kept,
  ): void => {
    try {
      if (!isIncluded(upstream, item)) return
      if (into.has(name)) throw new TypeError(`the name ${JSON.stringify(name)} is taken`)
      into.set(name, compile(scopesOf(upstream, item)))
    } catch (error) {
      merging.leaveOut(upstream, item, textOf(error))
    }
  }
  for (const tool of lists.tools) {
    const item = { kind: 'tool', name: tool.name, tool } as const
    const name = upstream.prefix + tool.name
    add(merging.tools, name, item, (scopes) =>
      compileTool(name, { ...toTool(name, tool, relayed), ...scopes }),
    )
  }
  // A URI that an item before this server's may have, its own or that of a server before it, stays with that item.
  const after = merging.templates.size
  for (const resource of lists.resources) {
    const item = { kind: 'resource', name: resource.uri } as const
    const read = reading(relayed)
    add(merging.fixed, resource.uri, item, (scopes) => ({
      resource: resource as CompiledFixedResource['resource'],
      json: JSON.stringify(resource),
      config: served({ uri: resource.uri, read, canSubscribe, ...scopes }),
      after,
    }))
  }
  for (const listed of lists.templates) {
    const { uriTemplate } = listed
    const item = { kind: 'template', name: uriTemplate } as const
    add(merging.templates, uriTemplate, item, (scopes) => {
      const variables = templateVariables(uriTemplate)
      const ref = { type: 'ref/resource', uri: uriTemplate } as const
      const complete = completes && completersOf(variables, ref, relayed)
      return {
        resourceTemplate: listed as CompiledTemplateResource['resourceTemplate'],
        json: JSON.stringify(listed),
        config: served({
          uriTemplate,
          read: reading(relayed),
          canSubscribe,
          ...(complete && { complete }),
          ...scopes,
        }),
      }
    })
  }
  for (const prompt of lists.prompts) {
    const item = { kind: 'prompt', name: prompt.name } as const
    const name = upstream.prefix + prompt.name
    add(merging.prompts, name, item, (scopes) => toPrompt(name, prompt as Prompt, relayed, completes, scopes))
  }
}

type Relayed = Omit<RelayOptions, 'mayRerun' | 'allowsTask'> & {
  /** Undefined if the server has no tasks. */
  readonly sealFor: SealFor | undefined
}

/** The call has become a task. */
interface Started {
  readonly started: Task
}

function toTool(name: string, tool: Tool, relayed: Relayed) {
  const { title, description, inputSchema, outputSchema, annotations, icons, _meta } = tool
  const { rerun = annotations?.readOnlyHint === true || annotations?.idempotentHint === true } =
    relayed.upstream.server
  // Validated by the server behind, and the questions in a result would not match.
  const { outputSchema: _, ...toolDefinition } = tool
  return {
    id: name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: asStandard<Record<string, unknown>>(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: asStandard<unknown>(outputSchema as JsonSchema) }),
    mcp: {
      ...(annotations !== undefined && { annotations }),
      ...(icons !== undefined && { icons }),
      ...(_meta !== undefined && { _meta }),
    },
    execute: async (input: object | undefined, context: Context): Promise<CallToolResult | StartedTask> => {
      const seal = isDeclared(context) ? relayed.sealFor?.(context.env) : undefined
      try {
        const result = await relay<CallToolResult | Started>(
          'tools/call',
          context,
          { ...relayed, mayRerun: rerun, allowsTask: seal !== undefined },
          async (client, options, params) => {
            const given = { name: tool.name, arguments: { ...input }, ...params }
            const settings = { ...options, toolDefinition: toolDefinition as never }
            return (await client.callTool(given, settings).catch((error: unknown) => {
              const started = findStarted(error)
              if (started === undefined) throw error
              return { started }
            })) as CallToolResult | Started
          },
        )
        if (!('started' in result)) return result
        return await toHandle(result.started as Task, name, relayed.upstream, context, seal!)
      } catch (error) {
        if (isA(error, ProtocolError)) return toCallerResult(error)
        throw error
      }
    },
  }
}

function reading(relayed: Relayed) {
  return ({ uri }: { uri: string }, context: unknown): Promise<ReadAnswer> =>
    relay<{ contents: [] }>(
      'resources/read',
      context as Context,
      { ...relayed, mayRerun: true },
      async (client, options, params) =>
        (await client.readResource({ uri, ...params }, { ...options, cacheMode: 'bypass' })) as {
          contents: []
        },
    )
}

function toPrompt(
  name: string,
  listed: Prompt,
  relayed: Relayed,
  completes: boolean,
  scopes: { scopes?: readonly string[] },
): CompiledPrompt {
  const prompt = { ...listed, name }
  const names = (listed.arguments ?? []).map((argument) => argument.name)
  const ref = { type: 'ref/prompt', name: listed.name } as const
  return {
    name,
    prompt,
    json: JSON.stringify(prompt),
    args: undefined,
    required: (listed.arguments ?? []).flatMap((argument) => (argument.required ? [argument.name] : [])),
    config: {
      ...scopes,
      ...(completes && { complete: completersOf(names, ref, relayed) }),
      get: (args: Record<string, string>, context) =>
        relay<GetPromptResult>(
          'prompts/get',
          context as Context,
          { ...relayed, mayRerun: true },
          async (client, options, params) =>
            (await client.getPrompt(
              { name: listed.name, arguments: args, ...params },
              options,
            )) as GetPromptResult,
        ),
    },
  }
}

type Reference = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }

function completersOf(names: readonly string[], ref: Reference, relayed: Relayed): Completers {
  const completer = (name: string): Complete => {
    return async (value, { arguments: known, context }) => {
      const { completion } = await relay(
        'completion/complete',
        context as Context,
        { ...relayed, mayRerun: false },
        (client, { signal, timeout }, { _meta }) => {
          const params = {
            ref,
            argument: { name, value },
            context: { arguments: { ...known } },
            ...(_meta !== undefined && { _meta }),
          }
          return client.complete(params, {
            ...(signal !== undefined && { signal }),
            ...(timeout !== undefined && { timeout }),
          })
        },
      )
      return completion.values
    }
  }
  return Object.fromEntries(names.map((name) => [name, completer(name)]))
}
