/** The log messages of a server, as the user receives them. */
import type { LoggingLevel } from '@modelcontextprotocol/client'

/** A log message of a server. */
export interface ServerLogEntry {
  /** The server's name in `servers`. */
  server: string
  level: LoggingLevel
  logger?: string
  data: unknown
  /** `data` as text: JSON if it is not a string. */
  message: string
}

/** A log message of a server in the form for Mastra's `logger`. */
export interface ServerLogMessage {
  level: ServerLogEntry['level']
  /** The logged data, as text. */
  message: string
  /** When it arrived. */
  timestamp: Date
  /** The server's name in `servers`. */
  serverName: string
  details: { data: unknown; logger?: string }
}
