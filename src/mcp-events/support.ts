/** The events of a server, as it and its users see them. */
import type { Extension } from '../request/extension.ts'

/** What a platform reports about the invocation in which events are delivered. */
export interface EventPlatform {
  /** The platform's bindings, for `canSubscribe`. */
  readonly env?: unknown
  /** Keeps the invocation alive until deliveries are done. */
  readonly waitUntil?: (promise: Promise<unknown>) => void
  /** When the platform ends the invocation, in milliseconds since the epoch. Default: after 25 seconds. */
  readonly deadline?: number | undefined
}

/** The options of `emit`. */
export interface EmitOptions extends EventPlatform {
  /**
   * The identifier of the event in its source, by which a repeated `emit` is known for as long as events are stored: 1 to 200 visible
   * ASCII characters without a period. Default: a random one, so that a repeated `emit` is another event.
   */
  readonly eventId?: string
  /** When it happened. Default: now. */
  readonly timestamp?: Date
}

/** What `emit` did. */
export interface Emitted {
  readonly eventId: string
  /** An event with this `eventId` was emitted before: nothing was stored. */
  readonly isRepeated: boolean
}

/** What a run did. */
export interface EventRun {
  /** Requests that endpoints accepted. */
  readonly delivered: number
  /** Requests that failed. */
  readonly failed: number
  /** When something is due next, in milliseconds since the epoch. Null: nothing is. Not later than now: the time was over. */
  readonly nextDueAt: number | null
}

/** The type of `server.events`. */
export interface EventControls {
  /**
   * Stores an event, and resolves; its deliveries are made afterwards, in this invocation by `waitUntil`, or by the next `run`. Repeat it
   * with the same `eventId` if it rejects: the event may be stored.
   *
   * @throws TypeError for an unknown event, for data that its `payloadSchema` refuses, and for over 60 000 bytes of it.
   */
  emit(name: string, data: object, options?: EmitOptions): Promise<Emitted>
  /**
   * Makes the deliveries that are due, until there are none or the time is over: for a cron job. Repeats those that failed, and continues
   * what a process left unfinished.
   */
  run(platform?: EventPlatform): Promise<EventRun>
  /**
   * Tells clients that listen (`subscriptions/listen`, `eventsListChanged`) that the list of events has changed, by the server's bus: after
   * a deployment with other events.
   */
  notifyListChanged(): Promise<void>
}

/** Created by `events`. */
export interface EventSupport extends EventControls, Extension {}

declare module '../request/extension.ts' {
  interface ExtensionOptions {
    /** The events that clients can subscribe to: see `mayfly-mcp/mcp-events`. */
    events?: EventSupport
  }
  interface ExtensionFacts {
    /** Whether the server has `events`. Default false. */
    hasEvents?: boolean
    /** Whether the events exist only in one process. Default false. */
    hasLocalEvents?: boolean
    /** Whether a runner makes the deliveries that are due later. Default false. */
    hasEventRunner?: boolean
    /** Whether requests to webhooks are sent by a sender that was passed as `deliver`, instead of `fetch`. Default false. */
    hasEventSender?: boolean
    /** Whether webhooks of this machine are accepted, for development. Default false. */
    sendsEventsToLoopback?: boolean
    /** The scopes that events need of their subscribers, by the `id` of the event. Default: none need any. */
    eventScopes?: { readonly [event: string]: readonly string[] }
  }
  interface ExtensionApis {
    /** Emits events of this server and delivers them. Undefined without the option `events`. */
    readonly events: EventControls
  }
}
