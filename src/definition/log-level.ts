/** RFC 5424 severities, lowest first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const
/** The severity of a log message. */
export type LogLevel = (typeof LOG_LEVELS)[number]
