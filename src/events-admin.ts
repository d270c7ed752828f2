/**
 * The entry point `mayfly-mcp/events-admin`: an endpoint for the cron of MCP Events and for their operators, who list, show and redeliver what
 * could not be delivered.
 */
export {
  createEventAdmin,
  type EventAdmin,
  type EventAdminOptions,
  type ServerWithEvents,
} from './mcp-events/admin/admin.ts'
export {
  createEventEndpoint,
  type EventEndpoint,
  type EventEndpointOptions,
  type EventServer,
} from './mcp-events/admin/endpoint.ts'
export type {
  DeadLetterListOptions,
  DeadLetterPage,
  EventOperations,
} from './mcp-events/admin/operations.ts'
export { type EventAdminCode, EventAdminError } from './mcp-events/admin/refusal.ts'
export type { DeadLetterDetails, DeadLetterSummary, DeadSubscription } from './mcp-events/admin/summary.ts'
export type { DeadReason } from './mcp-events/dead.ts'
export type { ShownValue } from './tasks/admin/shown.ts'
