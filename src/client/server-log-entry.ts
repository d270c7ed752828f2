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
