/** What `client.events` takes and returns. */

/** An event that a server offers. */
export interface OfferedEvent {
  readonly name: string
  /** Untrusted text. */
  readonly description?: string
  readonly delivery: readonly string[]
  readonly inputSchema?: object
  readonly payloadSchema?: object
}

/** What to listen for. */
export interface EventSelection {
  /** The event's `name`. */
  readonly name: string
  /** As its `inputSchema` says. Default: none. */
  readonly arguments?: { readonly [name: string]: unknown }
}

/** What `events.poll` asks for. */
export interface EventPoll extends EventSelection {
  /** Of the last answer. Null or absent: no events, only the cursor of now. */
  readonly cursor?: string | null
  readonly maxEvents?: number
  readonly maxAgeMs?: number
}

/** An event. Untrusted content. */
export interface ReceivedEvent {
  /** The same id is the same event, also if it comes again. */
  readonly eventId: string
  readonly name: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly data: { readonly [name: string]: unknown }
  /** Continues after this event, where the server says so. */
  readonly cursor?: string | null
}

/** What `events.stream` listens to. */
export interface EventStreamSelection extends EventSelection {
  /** Of the last event that was processed. Null or absent: from now on. */
  readonly cursor?: string | null
  readonly maxAgeMs?: number
}

/** What `events.poll` returns. */
export interface PolledEvents {
  readonly events: readonly ReceivedEvent[]
  /** Store it once the events are done. */
  readonly cursor: string | null
  /** Events were left out. */
  readonly truncated: boolean
  /** More can be polled at once. */
  readonly hasMore: boolean
  /** Milliseconds to wait otherwise. */
  readonly nextPollMs?: number
}

/** What `events.subscribe` asks for. */
export interface EventSubscription extends EventSelection {
  /** The URL of your webhook, such as one with `eventsHandler` of `mayfly-mcp/webhook`, and the secret that it knows. */
  readonly delivery: { readonly url: string; readonly secret: string }
  /** Of the last event that was processed. Null or absent: from now on. */
  readonly cursor?: string | null
  /** The lifetime that is wished, in milliseconds; null: it does not expire. Default: the server's. */
  readonly ttlMs?: number | null
  readonly maxAgeMs?: number
}

/** What `events.subscribe` returns. */
export interface SubscribedEvents {
  readonly id: string
  /** When to subscribe again at the latest, with the same parameters: ISO 8601. Null: it does not expire. */
  readonly refreshBefore: string | null
  readonly cursor: string | null
  /** Events were left out. */
  readonly truncated: boolean
}
