/** A process that answers `initialize` and `tools/list`, and says nothing to what it does not know. */
import { createInterface } from 'node:readline'

const RESULTS: { readonly [method: string]: object } = {
  initialize: {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'silent', version: '1' },
  },
  'tools/list': { tools: [{ name: 'quiet', inputSchema: { type: 'object' } }] },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id: unknown; method: string }
  const result = RESULTS[method]
  if (result !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
