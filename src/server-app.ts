/** The app of a server: its engine behind the guards of HTTP. */
import type { MCPServerConfig } from './config.ts'
import { withPart } from './definition/part.ts'
import type { StoreOwner } from './definition/store-owner.ts'
import type { Feed } from './events/feed.ts'
import { type App, createApp } from './http/app.ts'
import { toAppOptions, toCallLimits } from './http/hosting.ts'
import { loadPage } from './http/load-page.ts'
import { createAnswerer } from './protocol/answerer.ts'
import { createEngine } from './protocol/engine.ts'
import type { RequestOptions } from './request/extension.ts'

/** `feed`: publishes the changes of this server, and notifies streams and sessions of them. */
export function createServerApp(
  config: MCPServerConfig & { readonly id: string },
  options: RequestOptions,
  feed: Feed,
  owner: StoreOwner,
): App {
  const { name, subscriptions, telemetry, setup } = config
  const { definition, reportError } = options
  const limits = toCallLimits(config)
  // The same object, in which the server replaces the definition: a getter would be called several times for each request.
  const answerer = createAnswerer(Object.assign(options, { feed, subscriptions, waiting: {}, ...limits }))
  return createApp(
    {
      page: (endpoint, access) =>
        withPart(loadPage, ({ toPageModel }) => toPageModel(options.definition, endpoint, access)),
    },
    (checkpoint) => createEngine(answerer, { ...limits, checkpoint, reportError, telemetry }),
    {
      ...toAppOptions(config, reportError, definition.hasScopes || setup !== undefined),
      name,
      owner,
      routes: options.extensions?.serve,
      hasSessionStreams: subscriptions !== undefined,
    },
  )
}
