/** Requests of the extension `io.modelcontextprotocol/events`, and what a server without it answers. */
import { ProtocolError } from '@modelcontextprotocol/client'
import { isA, memberOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { ANYTHING } from './anything.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { MCPClientError } from './errors.ts'

const METHOD_NOT_FOUND = -32601
const MAX_ERROR_CHARACTERS = 4096

/** @throws MCPClientError `UNSUPPORTED` for a server that does not know the method. */
export async function request<T>(
  connection: Connection,
  method: string,
  params: object,
  settings: RequestSettings | undefined,
  read: (answer: { readonly [name: string]: unknown }) => T | undefined,
): Promise<T> {
  const { server } = connection
  const details = { server, operation: method }
  return orUnsupported(details, () =>
    connection.request(
      method,
      async (client, options, extra) => {
        const asked = { method, params: { ...params, ...extra } }
        const answer = await client.request(asked, ANYTHING, { ...options, allowInputRequired: true })
        const result = isObject(answer) ? read(answer) : undefined
        if (result !== undefined) return result
        throw new MCPClientError(
          'REQUEST_FAILED',
          `MCP server "${server}" sent an invalid answer to ${method}.`,
          details,
        )
      },
      settings,
    ),
  )
}

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
