/** The message of a question that is asked again because the last answer was not accepted: writes and reads the reason. */

const BETWEEN = '\n\nThe last answer was not accepted: '

export function withReason(message: string, reason: string): string {
  return `${message}${BETWEEN}${reason}`
}

/** The original question, and why its last answer was not accepted; undefined for a question that is asked for the first time. */
export function readReason(message: string): { readonly asked: string; readonly reason: string } | undefined {
  const at = message.lastIndexOf(BETWEEN)
  return at === -1 ? undefined : { asked: message.slice(0, at), reason: message.slice(at + BETWEEN.length) }
}
