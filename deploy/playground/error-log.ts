/** The errors that the server of `mayfly dev` logged of late, so that the page can show those of a failed call. */
import type { ServerError } from '../contract/target.ts'

export interface ErrorLog {
  add(error: ServerError): void
  /** Those of one request. Waits for the first, since a log may arrive after the response that it is about; at most a second. */
  of(requestId: string): Promise<readonly ServerError[]>
}

const MAX_ERRORS = 100
const WAIT_MS = 1000

export function createErrorLog(): ErrorLog {
  const errors: ServerError[] = []
  const waiting = new Set<() => void>()
  const find = (requestId: string): ServerError[] => errors.filter((error) => error.requestId === requestId)
  return {
    add: (error) => {
      errors.push(error)
      if (errors.length > MAX_ERRORS) errors.shift()
      for (const look of waiting) look()
    },
    of: (requestId) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          waiting.delete(look)
          resolve(find(requestId))
        }
        const look = (): void => {
          if (find(requestId).length > 0) end()
        }
        const timer = setTimeout(end, WAIT_MS)
        waiting.add(look)
        look()
      }),
  }
}
