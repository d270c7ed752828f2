/** Tells the open pages of `mayfly dev` what became of a change: each listens to a stream, which ends with the page. */
import type { ServerResponse } from 'node:http'

export interface Reloads {
  /** How often the server was replaced. */
  readonly count: number
  /** Tells all pages that the server was replaced. */
  announce(): void
  /** Tells all pages why the last change is not served. */
  announceRefused(reasons: readonly string[]): void
  /** Answers with a stream of the counts and of refused changes, the present ones first. False if too many pages listen. */
  join(response: ServerResponse, headers: Readonly<Record<string, string>>): boolean
  /** Ends all streams. */
  close(): void
}

/** A page that is hidden does not listen. */
const MAX_PAGES = 32

export function createReloads(): Reloads {
  const pages = new Set<ServerResponse>()
  let count = 0
  let refused: readonly string[] | undefined
  const tell = (page: ServerResponse): void => {
    page.write(`data: ${count}\n\n`)
    if (refused !== undefined) page.write(`event: refused\ndata: ${JSON.stringify(refused)}\n\n`)
  }
  return {
    get count() {
      return count
    },
    announce: () => {
      count++
      refused = undefined
      pages.forEach(tell)
    },
    announceRefused: (reasons) => {
      refused = reasons
      pages.forEach(tell)
    },
    join: (response, headers) => {
      if (pages.size >= MAX_PAGES) return false
      pages.add(response)
      response.once('close', () => pages.delete(response))
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      tell(response)
      return true
    },
    close: () => {
      for (const page of pages) page.end()
    },
  }
}
