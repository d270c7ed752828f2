/**
 * The exports of `mayfly-mcp/mastra` on edge platforms: what code written for `@mastra/mcp` and `@mastra/core` imports. On Node it has
 * the same names, and the methods that start a server in a process.
 */

import type { ToolInfo } from './config.ts'
import { type MCPServerConfig as NativeConfig, namedExtensions, namesOf, SERVER_OPTIONS } from './config.ts'
import type { ElicitParams } from './definition/ask.ts'
import type { PromptsConfig } from './definition/prompt.ts'
import type { ResourcesConfig } from './definition/resource.ts'
import { type Names, refuseUnknown, requireOptions } from './definition/unknown-option.ts'
import { refuseMisplaced } from './http/hosting.ts'
import { extendForMastra, extendForMastraBehindHost, type MastraContext } from './mastra/context.ts'
import type { MastraCallContext } from './mastra/create-tool.ts'
import {
  type MastraRequest,
  toNativePrompts,
  toNativeResources,
  toNativeTools,
} from './mastra/server-config.ts'
import {
  describeServer,
  describeServerDetail,
  type Publication,
  type ServerDetail,
  type ServerInfo,
} from './mastra/server-detail.ts'
import { createToolActions, type ToolActions } from './mastra/tool-actions.ts'
import type { Context } from './request/context.ts'
import type { ExtensionOptions } from './request/extension.ts'
import { MCPServer as NativeServer } from './server.ts'

export type { ToolInfo } from './config.ts'
export type { PromptMessage } from './definition/content.ts'
export type { Prompt } from './definition/prompt.ts'
export type {
  Resource,
  ResourceContent as MCPServerResourceContent,
  ResourceTemplate,
} from './definition/resource.ts'
export type { MastraContext, MastraMcp, MastraRequestValues } from './mastra/context.ts'
export {
  createTool,
  type MastraCallContext as ToolCallContext,
  type MastraCreatedTool as CreatedTool,
  type MastraToolConfig as ToolConfig,
} from './mastra/create-tool.ts'
export type { MastraHookEvent as ToolHookEvent, MastraHooks as ToolHooks } from './mastra/hooks.ts'
export type {
  MastraRequest,
  MCPServerPrompts,
  MCPServerResources,
  ToolsInput,
  VersionedPrompt,
} from './mastra/server-config.ts'
export type {
  PackageInfo,
  RemoteInfo,
  Repository,
  ServerDetail,
  ServerInfo,
} from './mastra/server-detail.ts'
export type { ToolActions } from './mastra/tool-actions.ts'
export {
  createIntrospectionValidator,
  createStaticTokenValidator,
  type OAuthConfig,
  oauth,
  type TokenValidationResult,
  type ValidateToken,
} from './mastra/validate-token.ts'

/** What `getToolListInfo` returns. */
export interface ToolListInfo {
  tools: ToolInfo[]
}

/** The configuration of an `MCPServer`: that of `mayfly-mcp`, and what Mastra's has besides. */
export interface MCPServerConfig
  extends Omit<NativeConfig<MastraContext>, 'resources' | 'prompts'>,
    Publication {
  resources?: ResourcesConfig<MastraRequest>
  prompts?: PromptsConfig<MastraRequest>
  /** Ignored: both eras are always served. */
  protocolVersion?: '2025-11-25' | '2026-07-28'
}

const REPOSITORY: Names<NonNullable<Publication['repository']>> = {
  url: 'string',
  source: 'string',
  id: 'string',
}
const PUBLICATION: Names<Publication> = {
  repository: 'object',
  releaseDate: 'string',
  isLatest: 'boolean',
  packageCanonical: 'string',
  packages: 'object',
  remotes: 'object',
}

function refuse(method: string): never {
  throw new TypeError(
    `${method} needs a process: it does not work on an edge platform, where the exported server is what runs.`,
  )
}

/** The `MCPServer` of `mayfly-mcp` for tools, agents, workflows and callbacks that were written for Mastra's. */
export class MCPServer extends NativeServer<MastraContext> {
  readonly #publication: Publication
  readonly #created: string | undefined
  readonly #isBehindHost: boolean
  /** Adds and removes tools while the server runs, in this process or isolate: with several, write `setup`. */
  readonly toolActions: ToolActions
  /** Always throws: outside a request there is no client to ask. @throws TypeError that says what to call instead. */
  readonly elicitation = {
    sendRequest(_params: ElicitParams, _options?: object): Promise<never> {
      throw new TypeError('A server cannot ask a client: call ctx.elicit in the tool.')
    },
  }

  /** @throws TypeError for an invalid configuration, naming the option. */
  constructor(given: MCPServerConfig) {
    const known: Names<Omit<MCPServerConfig, keyof ExtensionOptions>> = {
      ...SERVER_OPTIONS,
      ...PUBLICATION,
      protocolVersion: { '2025-11-25': 1, '2026-07-28': 1 },
    }
    refuseMisplaced('MCPServer', given)
    requireOptions('MCPServer', given, { ...namesOf(namedExtensions(given)), ...known })
    refuseUnknown('"repository"', given.repository, REPOSITORY)
    const { protocolVersion: _, tools, resources, prompts, ...rest } = given
    const { repository, releaseDate, isLatest, packageCanonical, packages, remotes, ...config } = rest
    const native = {
      tools: toNativeTools(tools),
      resources: toNativeResources(resources),
      prompts: toNativePrompts(prompts),
    }
    super({ ...config, ...(native as Pick<NativeConfig, keyof typeof native>) })
    this.#isBehindHost = config.auth === 'host'
    // Workers have no clock before the first request.
    const now = Date.now()
    this.#created = now === 0 ? undefined : new Date(now).toISOString()
    this.toolActions = createToolActions(this.tools.notifyListChanged, (change) => this.changeTools(change))
    this.#publication = {
      repository,
      releaseDate,
      isLatest,
      packageCanonical,
      packages,
      remotes,
    } as Publication
  }

  protected override get extendContext(): (context: Context) => void {
    return this.#isBehindHost ? extendForMastraBehindHost : extendForMastra
  }

  /** This server in the short form of Mastra's servers. It is not what the MCP registry publishes: `mayfly registry` writes that. */
  getServerInfo(): ServerInfo {
    return describeServer(this.#described())
  }

  /** The same with its packages and remotes. It is not the `server.json` of the MCP registry either. */
  getServerDetail(): ServerDetail {
    return describeServerDetail(this.#described())
  }

  override executeTool(name: string, input: unknown, context?: MastraCallContext): Promise<unknown> {
    return super.executeTool(name, input, context)
  }

  #described() {
    const { id, name, version, description } = this
    const { releaseDate = this.#created ?? new Date().toISOString(), ...publication } = this.#publication
    return { id, name, version, description, releaseDate, ...publication }
  }

  /** @deprecated Mastra's. @throws TypeError that says what to call instead. */
  sendLoggingMessage(_params: object): Promise<never> {
    throw new TypeError(
      'A server cannot log to every client: call context.mcp.log in the tool, for the client that called it.',
    )
  }

  /** Undefined: only in a process there are transports. */
  getStdioTransport(): object | undefined {
    return undefined
  }

  /** The same as for `getStdioTransport`. */
  getSseTransport(): object | undefined {
    return undefined
  }

  /** The same as for `getStdioTransport`. */
  getSseHonoTransport(_sessionId?: string): object | undefined {
    return undefined
  }

  /** The same as for `getStdioTransport`. */
  getStreamableHTTPTransport(): object | undefined {
    return undefined
  }

  /** Only in a process. @throws TypeError elsewhere. */
  startStdio(..._options: unknown[]): Promise<unknown> {
    return refuse('startStdio')
  }

  /** The same as for `startStdio`. */
  startHTTP(_request: object): Promise<unknown> {
    return refuse('startHTTP')
  }

  /** The same as for `startStdio`. */
  startSSE(_request: object): Promise<unknown> {
    return refuse('startSSE')
  }

  /** The same as for `startStdio`. */
  startHonoSSE(_request: object): Promise<unknown> {
    return refuse('startHonoSSE')
  }
}

/** Only in a process. @throws TypeError elsewhere. */
export function startSSE(_request: object): Promise<void> {
  return refuse('startSSE')
}

/** Only in a process. @throws TypeError elsewhere. */
export function startHonoSSE(_request: object): Promise<Response> {
  return refuse('startHonoSSE')
}

/** Only on Node. @throws TypeError elsewhere, which says what to write. */
export function createOAuthMiddleware(_options: object): never {
  throw new TypeError('createOAuthMiddleware needs Node: write auth: oauth({ … }) in the server.')
}
