/** Requests of the extension `io.modelcontextprotocol/events`, and what a server without it answers. */
import { ProtocolError } from '@modelcontextprotocol/client'
import { isA, memberOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { ANYTHING } from './anything.ts'
import { MAX_PAGES } from './connect.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { MCPClientError } from './errors.ts'

const METHOD_NOT_FOUND = -32601
const MAX_ERROR_CHARACTERS = 4096

type Read<T> = (answer: { readonly [name: string]: unknown }) => T | undefined

/** @throws MCPClientError `UNSUPPORTED` for a server that does not know the method. */
export function request<T>(
  connection: Connection,
  method: string,
  params: object,
  settings: RequestSettings | undefined,
  read: Read<T>,
): Promise<T> {
  return withSender(connection, method, settings, read, (send) => send(params))
}

/** All pages within the time of one request; the channel limits their bytes. @throws MCPClientError, also for too many pages. */
export function requestPages<Item>(
  connection: Connection,
  method: string,
  settings: RequestSettings | undefined,
  read: Read<{ readonly items: readonly Item[]; readonly nextCursor?: string }>,
): Promise<readonly Item[]> {
  return withSender(connection, method, settings, read, async (send) => {
    const all: Item[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const { items, nextCursor } = await send(cursor === undefined ? {} : { cursor })
      all.push(...items)
      if (nextCursor === undefined) return all
      cursor = nextCursor
    }
    throw failed(connection, method, `sent more than ${MAX_PAGES} pages to`)
  })
}

/** Runs `work`, which sends one or more requests of the method. */
function withSender<T, Result>(
  connection: Connection,
  method: string,
  settings: RequestSettings | undefined,
  read: Read<T>,
  work: (send: (params: object) => Promise<T>) => Promise<Result>,
): Promise<Result> {
  return orUnsupported({ server: connection.server, operation: method }, () =>
    connection.request(
      method,
      (client, options, extra) =>
        work(async (params) => {
          const asked = { method, params: { ...params, ...extra } }
          const answer = await client.request(asked, ANYTHING, { ...options, allowInputRequired: true })
          const result = isObject(answer) ? read(answer) : undefined
          if (result !== undefined) return result
          throw failed(connection, method, 'sent an invalid answer to')
        }),
      settings,
    ),
  )
}

const failed = ({ server }: Connection, method: string, how: string): MCPClientError =>
  new MCPClientError('REQUEST_FAILED', `MCP server "${server}" ${how} ${method}.`, {
    server,
    operation: method,
  })

/** Runs a request, and says `UNSUPPORTED` where the server does not know its method. */
export async function orUnsupported<T>(
  details: { readonly server: string; readonly operation: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const cause = isA(error, MCPClientError) ? error.cause : undefined
    if (!isUnknownMethod(cause)) throw error
    throw unsupported({ ...details, cause })
  }
}

/**
 * Whether the server does not know the method: from its error, or from the body of its 404, which the official client does not read. What it
 * declares says less: the official client drops the capability `events` of the drafts before SEP-3415.
 */
function isUnknownMethod(cause: unknown): boolean {
  if (isA(cause, ProtocolError)) return cause.code === METHOD_NOT_FOUND
  const data = memberOf(cause, 'data')
  const text = isObject(data) && data.status === 404 ? String(data.text) : ''
  return text.length <= MAX_ERROR_CHARACTERS && /"code"\s*:\s*-32601\b/.test(text)
}

function unsupported(details: {
  readonly server: string
  readonly operation: string
  readonly cause?: unknown
}): MCPClientError {
  const { server, operation } = details
  return new MCPClientError('UNSUPPORTED', `MCP server "${server}" has no ${operation}.`, details)
}
