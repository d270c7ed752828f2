/**
 * The exports of `mayfly-mcp/mastra` on Node and Bun: those of other platforms, an `MCPServer` with the methods that start one in a
 * process, and `createOAuthMiddleware`.
 */
import { MCPServer as EdgeServer } from '../src/mastra.ts'
import type { Sessions } from './_node/sessions.ts'
import { type SSETransport, sseTransportOf } from './_node/sse.ts'
import {
  closeSessions,
  type StartHonoSSE,
  type StartHTTP,
  type StartSSE,
  sessionsFor,
  startHonoSSE,
  startHTTP,
  startSSE,
} from './_node/start.ts'
import { type StdioOptions, type StdioServer, startStdio } from './_node/stdio.ts'

export {
  type CreatedTool,
  createIntrospectionValidator,
  createStaticTokenValidator,
  createTool,
  type MastraContext,
  type MastraMcp,
  type MastraRequest,
  type MastraRequestValues,
  type MCPServerConfig,
  type MCPServerPrompts,
  type MCPServerResourceContent,
  type MCPServerResources,
  type OAuthConfig,
  oauth,
  type PackageInfo,
  type Prompt,
  type PromptMessage,
  type RemoteInfo,
  type Repository,
  type Resource,
  type ResourceTemplate,
  type ServerDetail,
  type ServerInfo,
  type TokenValidationResult,
  type ToolActions,
  type ToolCallContext,
  type ToolConfig,
  type ToolHookEvent,
  type ToolHooks,
  type ToolInfo,
  type ToolListInfo,
  type ToolsInput,
  type ValidateToken,
  type VersionedPrompt,
} from '../src/mastra.ts'
export {
  createOAuthMiddleware,
  type OAuthMiddlewareOptions,
  type OAuthMiddlewareResult,
} from './_node/oauth-middleware.ts'
export type { SSETransport } from './_node/sse.ts'
export {
  type StartHonoSSE,
  type StartHTTP,
  type StartHTTPOptions,
  type StartSSE,
  startHonoSSE,
  startSSE,
} from './_node/start.ts'
export type { StdioOptions, StdioServer } from './_node/stdio.ts'

/**
 * The `MCPServer` of `mayfly-mcp` for what was written for Mastra's, with `startStdio`, `startHTTP`, `startSSE` and `startHonoSSE` as
 * methods. `close` also ends everything that they have opened.
 *
 * ```ts
 * const server = new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools })
 * await server.startStdio()
 * ```
 */
export class MCPServer extends EdgeServer {
  #stdio: StdioServer | undefined
  #isClosing = false

  override async startStdio(options?: StdioOptions): Promise<StdioServer> {
    this.#stdio = await startStdio(this, options)
    return this.#stdio
  }

  override startHTTP(request: Omit<StartHTTP, 'server'>): Promise<void> {
    return startHTTP({ ...request, server: this })
  }

  override startSSE(request: Omit<StartSSE, 'server'>): Promise<void> {
    return startSSE({ ...request, server: this })
  }

  override startHonoSSE(request: Omit<StartHonoSSE, 'server'>): Promise<Response> {
    return startHonoSSE({ ...request, server: this })
  }

  /** What `startStdio` has started; undefined before. */
  override getStdioTransport(): StdioServer | undefined {
    return this.#stdio
  }

  /** The stream of `startSSE` that was opened last; undefined while none is open. */
  override getSseTransport(): SSETransport | undefined {
    return sseTransportOf(this)
  }

  /** The stream of `startHonoSSE` with this id, or the one that was opened last; undefined if it is not open. */
  override getSseHonoTransport(sessionId?: string): SSETransport | undefined {
    return sseTransportOf(this, sessionId)
  }

  /** The sessions of `startHTTP`; undefined before its first call, and without sessions. */
  override getStreamableHTTPTransport(): Sessions | undefined {
    return sessionsFor(this)
  }

  override async close(): Promise<void> {
    // May be called again by the parts closed below.
    if (this.#isClosing) return super.close()
    this.#isClosing = true
    try {
      await Promise.all([this.#stdio?.close(), closeSessions(this), super.close()])
    } finally {
      this.#isClosing = false
    }
  }
}
