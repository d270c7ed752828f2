/**
 * "Search my documents": this project's own documentation, without an account and without a network. Make the index first:
 *
 *   npx mayfly ingest docs --store examples/retrieval/docs-index.json --index docs --model examples/retrieval/embed.ts
 */
import { MCPServer } from 'mayfly-mcp'
import {
  createGraphRAGTool,
  createMemoryVectorStore,
  createVectorQueryTool,
  type MemorySnapshot,
} from 'mayfly-mcp/retrieval'
import index from './docs-index.json' with { type: 'json' }
import embed from './embed.ts'

const vectorStore = createMemoryVectorStore(index as MemorySnapshot)

const search = createVectorQueryTool({
  id: 'search',
  description:
    'Searches the documentation of Mayfly. Use it for every question about building or deploying MCP servers with it.',
  vectorStore,
  indexName: 'docs',
  model: embed,
  enableFilter: true,
})

const connections = createGraphRAGTool({
  id: 'connections',
  description:
    'Finds passages of the documentation of Mayfly that are related to a question, directly or through other passages.',
  vectorStore,
  indexName: 'docs',
  model: embed,
  graphOptions: { threshold: 0.4 },
})

export default new MCPServer({
  id: 'docs',
  name: 'Docs',
  version: '1.0.0',
  instructions: 'Search before you answer.',
  tools: { search, connections },
})
