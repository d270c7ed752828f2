/** Finds the server in what an entry exports: the server itself, a Worker that has it as `fetch`, or an app, `{ ...app }` too, that has it in a route. */
import type { MCPServer } from '../../src/index.ts'

/** Also of an entry that was not written with Mayfly. */
export type Found = Partial<
  Pick<MCPServer, 'id' | 'getDeploymentInfo' | 'getToolListInfo' | 'getSessionParts'>
>

/** What is read from a Hono app. */
interface App {
  readonly routes?: unknown
}

/** A handler made by `mcp(server)` of `mayfly-mcp/hono` or `cloudflare(server)` of `mayfly-mcp/cloudflare`, or a Hono wrapper around one. */
interface Handler {
  readonly mayflyServer?: Found
  readonly __COMPOSED_HANDLER?: unknown
}

/** What is exported, if it does not contain a server of Mayfly. */
export function serverIn(exported: unknown): Found | undefined {
  const given = exported as (Found & App & { readonly fetch?: unknown }) | undefined
  if (given?.getDeploymentInfo !== undefined) return given
  return serverOfApp(given) ?? serverOf(given?.fetch) ?? given
}

/** The first handler with a description; a task endpoint has none. */
function serverOfApp(app: App | undefined): Found | undefined {
  if (!Array.isArray(app?.routes)) return undefined
  const servers = (app.routes as { readonly handler?: unknown }[]).map(({ handler }) => serverOf(handler))
  return servers.find((found) => found?.getDeploymentInfo !== undefined)
}

/** Routes of an app within the app are wrapped, more than once where there are several levels. */
function serverOf(handler: unknown): Found | undefined {
  if (typeof handler !== 'function') return undefined
  const { mayflyServer, __COMPOSED_HANDLER: inner } = handler as Handler
  return mayflyServer ?? (inner === handler ? undefined : serverOf(inner))
}
