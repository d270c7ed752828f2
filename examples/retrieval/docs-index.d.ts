/** The index is made by `mayfly ingest`, and not kept in the repository. */
declare module '*/docs-index.json' {
  const snapshot: import('mayfly-mcp/retrieval').MemorySnapshot
  export default snapshot
}
