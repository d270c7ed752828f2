/** `mayfly-mcp/gateway`: serves the tools, resources and prompts of other MCP servers. */
export { gateway } from './gateway/gateway.ts'
export type {
  GatewayHttpServer,
  GatewayItem,
  GatewayOptions,
  GatewayServer,
  GatewaySharedServer,
} from './gateway/options.ts'
export type { GatewayCaller, GatewaySupport } from './request/gateway-support.ts'
