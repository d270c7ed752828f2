/**
 * The entry point `mayfly-mcp/mcp-events`: events that clients subscribe to.
 */
export type {
  DeliveryError,
  EventPost,
  EventSender,
  PostFailure,
  PostLimits,
  PostOutcome,
} from './mcp-events/contract.ts'
export {
  createEvent,
  type DeliveryMode,
  type EventConfig,
  type EventType,
  type HookContext,
  type OwnEventType,
  type Subscriber,
  type SubscriptionInfo,
} from './mcp-events/event.ts'
export { events } from './mcp-events/events.ts'
export type { SubscriberAuth } from './mcp-events/record.ts'
export type { ReplayContext, ReplayedEvent, ReplayPage, ReplayQuery } from './mcp-events/replay.ts'
export type { EventsOptions } from './mcp-events/settings.ts'
export { createMemoryEvents } from './mcp-events/store/memory.ts'
export type {
  EmitOptions,
  Emitted,
  EventControls,
  EventPlatform,
  EventRun,
  EventSupport,
} from './mcp-events/support.ts'
