/**
 * Whether a server of another SDK lists a tool or prompt to this caller. Asked if it is not known yet: a low-level `Server` of an SDK has no
 * names before its first list.
 */

import type { Incoming } from '../protocol/engine-options.ts'
import type { RequestMessage } from '../protocol/json-rpc.ts'
import { askForeign } from './ask-foreign.ts'
import { toCall } from './foreign-call.ts'
import { listFor, namesIn } from './listed-names.ts'
import type { RunForeign } from './run.ts'

/** Of a list; what is further back counts as absent. */
const MAX_PAGES = 100

/** Never rejects: a server that fails to list has nothing. `over` aborts when the call is over. */
export async function isListedNow(
  { method: used, params }: RequestMessage,
  incoming: Incoming,
  run: RunForeign,
  over: AbortSignal,
): Promise<boolean> {
  const method = listFor(used)
  if (method === undefined) return false
  const { progressToken: _, ...meta } = { ...(params._meta as object | undefined) } as {
    progressToken?: unknown
  }
  const request = withoutNames(incoming.request, method)
  const asking = { ...incoming, request, sent: request.headers }
  try {
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const value = {
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...(params._meta !== undefined && { _meta: meta }),
          ...(cursor !== undefined && { cursor }),
        },
      }
      const message = { kind: 'request', id: 1, method, params: value.params, value } as const
      const result = await askForeign(run, over, (signal) => toCall(message, asking, signal, true))
      if (namesIn(method, result).includes(params.name)) return true
      cursor = result.nextCursor
      if (cursor === undefined) return false
    }
  } catch {
    // What it cannot list is not there.
  }
  return false
}

/** The same caller, with the headers of a list. */
function withoutNames({ url, headers: sent }: Request, method: string): Request {
  const headers = new Headers(sent)
  for (const name of sent.keys()) if (/^mcp-(name$|param-)/.test(name)) headers.delete(name)
  if (headers.has('mcp-method')) headers.set('mcp-method', method)
  return new Request(url, { method: 'POST', headers })
}
