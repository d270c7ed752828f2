/**
 * A server of another SDK with the same HTTP layer as an `MCPServer`: guard, auth, limits, log and page.
 */
import { type CallContext, checkMiddleware, type ToolMiddleware } from '../definition/middleware.ts'
import type { Names } from '../definition/unknown-option.ts'
import { type App, createApp } from '../http/app.ts'
import {
  checkHosting,
  HOSTING_OPTIONS,
  type HostingConfig,
  toAppOptions,
  toCallLimits,
} from '../http/hosting.ts'
import { requireNoServer, tokenAuthOf } from '../http/known-callers.ts'
import { createReportError } from '../http/log.ts'
import { createEngine } from '../protocol/engine.ts'
import { toFetch } from '../request/fetch-call.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { createDescription } from './description.ts'
import { createForeignAnswerer } from './foreign-answerer.ts'
import { checkScopes, type GuardedNames } from './guarded.ts'
import { createListedNames, type ListedNames } from './listed-names.ts'
import type { RunForeign } from './run.ts'
import { checkMethods } from './served-methods.ts'

/** The options that `fromSdk` and `fromNode` share. */
export interface HostedConfig extends HostingConfig {
  /** Scopes that single tools, prompts, resources (by URI or URI template) and your own methods need. Needs `auth`. */
  scopes?: GuardedNames
  /**
   * Methods besides those of MCP's tools, prompts, resources, completion and subscriptions that the server may be sent: its own, and
   * `tasks/…` of an SDK. Name one only if it shows each caller no more than its own data. Default: those in `scopes.methods`; all others
   * are answered `-32601`.
   */
  methods?: readonly string[]
  /**
   * Middleware around each tool call, as the option of `MCPServer`. The server itself validates the arguments, and its context is not
   * known here. Default: none.
   */
  use?: readonly ToolMiddleware<CallContext>[]
}

/** The names of `HostedConfig`. */
export const HOSTED_OPTIONS: Names<HostedConfig> = {
  ...HOSTING_OPTIONS,
  scopes: 'object',
  methods: 1,
  use: 1,
}

/** A server that every adapter and the CLI accept, like an `MCPServer`. */
export interface HostedServer {
  /** Serves one request, with web standards only. A property, so that it can be passed on without its object. */
  readonly fetch: (request: Request, env?: unknown, executionContext?: unknown) => Promise<Response>
  /** Serves one request with all platform data from an adapter. Never rejects. */
  readonly handle: (request: Request, platform: RequestPlatform) => Promise<Response>
  readonly leanHandle: HostedServer['handle']
  /** Ends `subscriptions/listen` streams with their result, when a process stops. */
  readonly close: () => Promise<void>
  /** The store of the API keys of `auth`, for `mayfly keys`. May throw. Absent: it has none. */
  readonly keyStore?: (env: unknown) => unknown
}

/**
 * @param names What is known of a server's names: undefined for a handler, which may also have asked its clients something.
 * @param path Where the server is asked for its page.
 * @throws TypeError for an invalid configuration.
 */
export function host(...given: Parameters<typeof hostApp>): HostedServer {
  return hostApp(...given).hosted
}

/** The same, with its endpoint. */
export function hostApp(
  run: RunForeign,
  config: HostedConfig,
  names?: ListedNames,
  path = '/mcp',
): { readonly hosted: HostedServer; readonly endpoint: App['endpoint'] } {
  checkHosting(config)
  requireNoServer('fromSdk and fromNode', tokenAuthOf(config))
  checkScopes(config.scopes, config)
  checkMethods(config.methods)
  const reportError = createReportError(config.onError)
  const limits = toCallLimits(config)
  checkMiddleware(config.use)
  const { scopes, methods, telemetry } = config
  const keyStore = tokenAuthOf(config)?.keyStore
  const use = config.use?.length ? config.use : undefined
  const answerer = createForeignAnswerer(run, {
    ...limits,
    reportError,
    scopes,
    methods,
    names: names ?? createListedNames(),
    mayAsk: names === undefined,
    use,
  })
  const app = createApp(
    createDescription(run, config, limits, path),
    (checkpoint) => createEngine(answerer, { ...limits, checkpoint, reportError, telemetry }),
    toAppOptions(config, reportError, scopes !== undefined),
  )

  const hosted: HostedServer = {
    handle: app.serve,
    leanHandle: app.serve,
    close: async () => app.engine.close(),
    ...(keyStore !== undefined && { keyStore }),
    fetch: toFetch(app.serve),
  }
  return { hosted, endpoint: app.endpoint }
}
