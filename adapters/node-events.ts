/** The sender of MCP Events for Node, Lambda, Deno and Bun: without the server of `mayfly-mcp/node`, which a Lambda does not have. */
export { type NodeEventSenderOptions, nodeEventSender } from './_node/event-sender.ts'
