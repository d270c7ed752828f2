/** JSON-RPC batches: of 2025-03-26, and where they do not belong. */
import { KEY, posted } from './_entry.ts'

const request = (id: unknown, method = 'ping', params?: object) => ({ jsonrpc: '2.0', id, method, params })
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }
const INITIALIZE = request(1, 'initialize', {
  protocolVersion: '2025-03-26',
  capabilities: {},
  clientInfo: { name: 'x', version: '1' },
})

const batch = (id: string, messages: unknown, version: string | undefined = '2025-03-26') =>
  posted(`batch ${id}`, JSON.stringify(messages), { 'mcp-protocol-version': version })

export const batchCorpus = [
  batch('of one', [request(1)]),
  batch('of two', [request(1), request(2, 'tools/list')]),
  batch('of calls', [
    request('a', 'tools/call', { name: 'echo', arguments: { text: 'a' } }),
    request('b', 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } }),
  ]),
  batch('of a request and a notification', [request(1), INITIALIZED]),
  batch('of notifications', [INITIALIZED, INITIALIZED]),
  batch('of a response', [{ jsonrpc: '2.0', id: 1, result: {} }]),
  batch('of a request and an error', [request(1), request(2, 'nope')]),
  batch('with a failing call', [request(1, 'tools/call', { name: 'nope' }), request(2)]),
  batch('of nothing', []),
  batch('of numbers', [1, 2, 3]),
  batch('of a batch', [[request(1)]]),
  batch('with null', [null, request(1)]),
  batch('with a message that is none', [request(1), { id: 2 }]),
  batch('with a bad id', [request(1), request(null)]),
  batch('of initialize', [INITIALIZE]),
  batch('of initialize and more', [INITIALIZE, request(2)]),
  batch('of a modern request', [
    request(1, 'tools/list', { _meta: { [KEY.version]: '2026-07-28', [KEY.capabilities]: {} } }),
  ]),
  posted('batch without a version header', JSON.stringify([request(1), request(2)])),
  batch('in 2025-06-18', [request(1)], '2025-06-18'),
  batch('in 2025-11-25', [request(1)], '2025-11-25'),
  batch('in 2026-07-28', [request(1)], '2026-07-28'),
  batch('of notifications in 2025-11-25', [INITIALIZED], '2025-11-25'),
  batch('of nothing in 2025-11-25', [], '2025-11-25'),
  batch(
    'of 101',
    Array.from({ length: 101 }, (_, index) => request(index)),
  ),
]
