/** The log messages of a server: modern clients request them with each request, legacy ones once per connection. */
import { type Client, LOG_LEVEL_META_KEY, type RequestOptions } from '@modelcontextprotocol/client'
import type { ServerConfig } from './config.ts'
import { callListener, type ListenerHost } from './errors.ts'

export type { ServerLogEntry } from './server-log-entry.ts'

/** The options for log messages in a server's configuration. */
export type LogConfig = Pick<ServerConfig, 'log' | 'logLevel'>

/** Registers the handler before the client connects. */
export function receiveLogs(host: ListenerHost, { log }: LogConfig, client: Client): void {
  if (log === undefined) return
  const { server } = host
  client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) =>
    callListener(
      log,
      {
        server,
        level,
        data,
        message: typeof data === 'string' ? data : JSON.stringify(data ?? null),
        ...(logger !== undefined && { logger }),
      },
      host,
    ),
  )
}

/** Sets the level after a legacy client has connected. */
export async function setLogLevel(
  { log, logLevel = 'info' }: LogConfig,
  client: Client,
  options: RequestOptions,
): Promise<void> {
  if (log === undefined || client.getProtocolEra() === 'modern') return
  if (client.getServerCapabilities()?.logging === undefined) return
  await client.setLoggingLevel(logLevel, options)
}

/** The `_meta` that sets the level in a modern client's request. */
export function logMeta(
  { log, logLevel = 'info' }: LogConfig,
  client: Client,
): { _meta?: Record<string, unknown> } {
  if (log === undefined || client.getProtocolEra() !== 'modern') return {}
  return { _meta: { [LOG_LEVEL_META_KEY]: logLevel } }
}
