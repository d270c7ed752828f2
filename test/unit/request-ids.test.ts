/** A header that two callers may both send identifies no call. */
import { describe, expect, it } from 'vitest'
import { createSessions } from '../../adapters/node.ts'
import { createTool, type LogEntry } from '../../src/index.ts'
import { MCPServer } from '../../src/mastra.ts'
import { legacyRequest, modernRequest, post, readAnswer } from './_client.ts'

const headers = { 'x-request-id': 'same' }
const call = { name: 'ids', arguments: {} }

interface Seen {
  readonly ids: string[]
  readonly log: LogEntry[]
  readonly server: MCPServer
}

function createSeen(): Seen {
  const ids: string[] = []
  const log: LogEntry[] = []
  const tool = createTool({
    id: 'ids',
    execute: (_input, ctx) => {
      const { requestId, toolCallId } = ctx as typeof ctx & { toolCallId: string }
      expect(toolCallId).toBe(requestId)
      ids.push(requestId)
      return 'done'
    },
  })
  const server = new MCPServer({
    id: 'x',
    name: 'X',
    version: '1',
    tools: { ids: tool },
    log: (entry) => log.push(entry),
  })
  return { ids, log, server }
}

const twoMessages = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call }))
const batch = (more: Record<string, string> = {}) =>
  post(twoMessages, { headers: { ...headers, 'mcp-protocol-version': '2025-03-26', ...more } })

async function inSession(server: MCPServer, request: (more: Record<string, string>) => Request) {
  const sessions = createSessions(server, { enableJsonResponse: true })
  const opened = await sessions.fetch(
    post({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    }),
  )
  const more = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
  await (await sessions.fetch(request(more))).text()
  await sessions.close()
}

const ENTRIES: { readonly [name: string]: (server: MCPServer) => Promise<unknown> } = {
  modern: (server) => server.fetch(modernRequest('tools/call', call, { headers })).then(readAnswer),
  legacy: (server) => server.fetch(legacyRequest('tools/call', call, { headers })).then(readAnswer),
  'a batch': (server) => server.fetch(batch()).then((response) => response.text()),
  'a session': (server) =>
    inSession(server, (more) =>
      legacyRequest('tools/call', call, {
        headers: { ...headers, ...more, 'mcp-protocol-version': '2025-03-26' },
      }),
    ),
  'a batch in a session': (server) => inSession(server, batch),
}

describe('two callers with the same X-Request-Id', () => {
  it.each(Object.keys(ENTRIES))('%s: each call has ids of its own [http.request-id]', async (name) => {
    const { ids, log, server } = createSeen()
    for (let caller = 0; caller < 2; caller++) await ENTRIES[name]!(server)

    expect(ids.length).toBeGreaterThanOrEqual(2)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).not.toContain('same')
    for (const { requestId } of log) expect(requestId).not.toBe('same')
    expect(log.map(({ clientRequestId }) => clientRequestId)).toContain('same')
  })
})
