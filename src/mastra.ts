/**
 * The exports of `mayfly-mcp/mastra` on edge platforms: what code written for `@mastra/mcp` and `@mastra/core` imports. On Node it has
 * the same names, and the methods that start a server in a process.
 */
import { type MCPServerConfig as NativeConfig, SERVER_OPTIONS } from './config.ts'
import type { ElicitParams } from './definition/ask.ts'
import type { PromptsConfig } from './definition/prompt.ts'
import type { ResourcesConfig } from './definition/resource.ts'
import { type Names, refuseUnknown, requireOptions } from './definition/unknown-option.ts'
import { extendForMastra, type MastraContext } from './mastra/context.ts'
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
import type { Context } from './request/context.ts'
import { MCPServer as NativeServer } from './server.ts'

export type { ResourceContent as MCPServerResourceContent } from './definition/resource.ts'
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
  VersionedPrompt,
} from './mastra/server-config.ts'
export type { ServerDetail, ServerInfo } from './mastra/server-detail.ts'
export {
  createIntrospectionValidator,
  createStaticTokenValidator,
  type OAuthConfig,
  oauth,
  type TokenValidationResult,
  type ValidateToken,
} from './mastra/validate-token.ts'

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
  /** Always throws: outside a request there is no client to ask. @throws TypeError that says what to call instead. */
  readonly elicitation = {
    sendRequest(_params: ElicitParams, _options?: object): Promise<never> {
      throw new TypeError('A server cannot ask a client: call ctx.elicit in the tool.')
    },
  }

  /** @throws TypeError for an invalid configuration, naming the option. */
  constructor(given: MCPServerConfig) {
    const known: Names<MCPServerConfig> = {
      ...SERVER_OPTIONS,
      ...PUBLICATION,
      protocolVersion: { '2025-11-25': 1, '2026-07-28': 1 },
    }
    requireOptions('MCPServer', given, known)
    refuseUnknown('"repository"', given.repository, REPOSITORY)
    const { protocolVersion: _, tools, resources, prompts, ...rest } = given
    const { repository, releaseDate, isLatest, packageCanonical, packages, remotes, ...config } = rest
    const native = {
      tools: toNativeTools(tools),
      resources: toNativeResources(resources),
      prompts: toNativePrompts(prompts),
    }
    super({ ...config, ...(native as Pick<NativeConfig, keyof typeof native>) })
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
    return extendForMastra
  }

  /** This server in the short form of Mastra's servers. It is not what the MCP registry publishes: `mayfly registry` writes that. */
  getServerInfo(): ServerInfo {
    return describeServer({ ...this.#publication, ...this.#identity() })
  }

  /** The same with its packages and remotes. It is not the `server.json` of the MCP registry either. */
  getServerDetail(): ServerDetail {
    return describeServerDetail({ ...this.#publication, ...this.#identity() })
  }

  override executeTool(name: string, input: unknown, context?: MastraCallContext): Promise<unknown> {
    return super.executeTool(name, input, context)
  }

  #identity() {
    const { id, name, version, description } = this
    return { id, name, version, description }
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
