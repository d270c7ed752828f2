/** What a server logs, as its user gets it. */
import type { LoggingLevel } from '@modelcontextprotocol/client'

/** A log message of a server. */
export interface ServerLogEntry {
  /** The name the server has in `servers`. */
  server: string
  level: LoggingLevel
  logger?: string
  data: unknown
  /** `data` as text: JSON if it is not a string. */
  message: string
}

/** A log message of a server as Mastra's `logger` gets it. */
export interface ServerLogMessage {
  level: ServerLogEntry['level']
  /** What was logged, as text. */
  message: string
  /** When it arrived. */
  timestamp: Date
  /** The name the server has in `servers`. */
  serverName: string
  details: { data: unknown; logger?: string }
}
