/** A legacy client on a connection that lasts, which answers what it is asked. */
import type { MCPServer, RequestPlatform } from '../../../src/index.ts'
import { createMemoryRendezvous } from '../../../src/index.ts'
import { type Answer, CLIENT, legacyRequest, post, readAnswer, StreamReader } from '../_client.ts'

type ClientSession = NonNullable<RequestPlatform['session']>

export interface AskedHere {
  readonly method: string
  readonly params: { readonly message?: string }
}

export function openSession(
  server: Pick<MCPServer, 'handle'>,
  respond: (asked: AskedHere) => unknown,
  clientCapabilities: object = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
) {
  const session: ClientSession = {
    id: 'session-1',
    declared: { protocolVersion: '2025-11-25', clientInfo: CLIENT, clientCapabilities },
    logLevel: undefined,
    subscriptions: { change: async () => {} },
    rendezvous: createMemoryRendezvous(),
  }
  const asked: AskedHere[] = []
  return {
    asked,
    async call(
      method: string,
      params: { readonly [name: string]: unknown },
      signal?: AbortSignal,
    ): Promise<Partial<Answer>> {
      const request = legacyRequest(method, params, signal === undefined ? {} : { signal })
      const response = await server.handle(request, { session })
      if (response.headers.get('content-type') !== 'text/event-stream') return readAnswer(response)
      const stream = new StreamReader(response)
      for (;;) {
        const item = await stream.next()
        if (item === undefined) return {}
        if ('comment' in item) continue
        if (item.method === undefined) return { result: item.result, error: item.error, message: item }
        if (item.id === undefined) continue
        const { method: what, params: sent = {}, id } = item
        asked.push({ method: what, params: sent })
        const result = await respond({ method: what, params: sent })
        // A client that cannot answer says so.
        const answer = result === undefined ? { error: { code: -32601, message: 'No' } } : { result }
        await server.handle(post({ jsonrpc: '2.0', id, ...answer }), { session })
      }
    },
  }
}
