/** The options of `events`. */
import { isObject } from '../definition/is-object.ts'
import { present } from '../definition/present.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import type { KeyedStore } from '../keyed/store.ts'
import type { TaskRunner } from '../tasks/store.ts'
import { createTimerRunner } from '../tasks/timer-runner.ts'
import type { EventSender } from './contract.ts'
import type { EventType } from './event.ts'
import { requireEventsStore } from './store/store.ts'

/** The options of `events`. */
export interface EventsOptions {
  /** What can happen, by any key: clients see the `id` of each. */
  readonly types: { readonly [key: string]: EventType }
  /** Where subscriptions and events are stored. */
  readonly store: KeyedStore
  /**
   * Sends the webhooks. Default: by `fetch`, which follows no redirect; on most platforms it cannot check the address that it connects to.
   */
  readonly deliver?: EventSender
  /**
   * Causes the deliveries that are due later: a runner of tasks, such as `alarmRunner`, `sqsRunner` or `pollingRunner`. Default: timers of
   * the process, if the store is local; otherwise none, and `run` must be called.
   */
  readonly runner?: TaskRunner
  /** Origins whose URLs may receive webhooks, without a challenge: `['https://chatgpt.com']`. Default: all `https` URLs, after one. */
  readonly allowedOrigins?: readonly string[]
  /** Whether `http` URLs of this machine may receive webhooks, for development. Default: only in `mayfly dev`, and not behind a tunnel. */
  readonly allowLoopback?: boolean
  /** Milliseconds for which a subscription is granted, if its client wishes nothing. Default 3 600 000, 1 hour. */
  readonly ttlMs?: number
  /** Milliseconds for which it is granted at least. Default 60 000, 1 minute. */
  readonly minTtlMs?: number
  /** Milliseconds for which it is granted at most. Default 86 400 000, 1 day. */
  readonly maxTtlMs?: number
  /** Whether subscriptions may last until they are unsubscribed, if their client wishes it. Default false. */
  readonly allowNoExpiry?: boolean
  /** Subscriptions of one principal. Default 100. */
  readonly maxSubscriptions?: number
  /**
   * Subscriptions of all. Over 1000 they are counted in parts: from nine tenths on, some may be refused. Default 100 000.
   */
  readonly maxTotalSubscriptions?: number
  /** Milliseconds for which an event is stored, delivered and known by its `eventId`. Default 86 400 000, 1 day. */
  readonly retentionMs?: number
  /** Events stored for each type; the oldest is deleted. Default 10 000. */
  readonly maxEvents?: number
  /** Milliseconds that clients should wait between two polls. Default 10 000. */
  readonly pollIntervalMs?: number
  /** Milliseconds between two looks of an open stream at the store. Default 2000. */
  readonly streamIntervalMs?: number
  /** Milliseconds that an endpoint has for its answer. Default 10 000. */
  readonly deliveryTimeoutMs?: number
  /** Milliseconds of nothing but failures after which a subscription is suspended, until its client refreshes it. Default 21 600 000, 6 hours. */
  readonly suspendAfterMs?: number
  /** Subscriptions that one run delivers to at once. Default 10. */
  readonly concurrency?: number
  /** Deliveries to one host at once, of one run. Default 2. */
  readonly maxPerHost?: number
}

const OPTIONS: Names<EventsOptions> = {
  types: 'object',
  store: 'object',
  deliver: 'object',
  runner: 'object',
  allowedOrigins: 'strings',
  allowLoopback: 'boolean',
  ttlMs: [1],
  minTtlMs: [1],
  maxTtlMs: [1],
  allowNoExpiry: 'boolean',
  maxSubscriptions: [1],
  maxTotalSubscriptions: [1],
  retentionMs: [1],
  maxEvents: [1],
  pollIntervalMs: [1],
  streamIntervalMs: [1],
  deliveryTimeoutMs: [1, 30_000],
  suspendAfterMs: [1],
  concurrency: [1],
  maxPerHost: [1],
}

type Limits = Required<Omit<EventsOptions, 'types' | 'store' | 'deliver' | 'runner'>>

export interface Settings extends Limits {
  readonly types: ReadonlyMap<string, EventType>
  readonly store: KeyedStore
  readonly deliver: EventSender | undefined
  readonly runner: TaskRunner | undefined
}

const DEFAULTS: Limits = {
  allowedOrigins: [],
  allowLoopback: false,
  ttlMs: 3_600_000,
  minTtlMs: 60_000,
  maxTtlMs: 86_400_000,
  allowNoExpiry: false,
  maxSubscriptions: 100,
  maxTotalSubscriptions: 100_000,
  retentionMs: 86_400_000,
  maxEvents: 10_000,
  pollIntervalMs: 10_000,
  streamIntervalMs: 2000,
  deliveryTimeoutMs: 10_000,
  suspendAfterMs: 21_600_000,
  concurrency: 10,
  maxPerHost: 2,
}

/** @throws TypeError for an unknown or invalid option. */
export function toSettings(options: EventsOptions): Settings {
  requireOptions('events', options, OPTIONS, 'types', 'store')
  const { types, store, deliver, runner, ...limits } = options
  requireEventsStore('events', store)
  if (deliver !== undefined && typeof deliver.post !== 'function')
    throw new TypeError('"deliver" of events must be a sender of webhooks.')
  if (runner !== undefined && typeof runner.wake !== 'function')
    throw new TypeError('"runner" of events must be a runner of tasks, such as pollingRunner().')
  const settings: Limits = { ...DEFAULTS, ...present<Partial<Limits>>(limits) }
  const { minTtlMs, maxTtlMs } = settings
  if (minTtlMs > maxTtlMs) throw new TypeError('"minTtlMs" of events must not be over "maxTtlMs".')
  if (limits.allowedOrigins?.length === 0)
    throw new TypeError(
      '"allowedOrigins" of events is empty: leave it out to allow every public origin, or name those that may receive events.',
    )
  if (!Number.isSafeInteger(settings.maxEvents))
    throw new TypeError('"maxEvents" of events must be a whole number.')
  for (const origin of settings.allowedOrigins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin || !/^https:\/\/[^*]+$/.test(origin))
      throw new TypeError(
        `"${origin}" in "allowedOrigins" of events is not an origin, such as https://chatgpt.com.`,
      )
  return {
    ...settings,
    types: byId(types),
    store,
    deliver,
    runner: runner ?? (store.isLocal ? createTimerRunner() : undefined),
  }
}

function byId(types: EventsOptions['types']): ReadonlyMap<string, EventType> {
  const found = new Map<string, EventType>()
  for (const [key, type] of Object.entries(types)) {
    if (!isObject(type) || typeof type.id !== 'string' || !('input' in type))
      throw new TypeError(`"${key}" in "types" of events must be created by createEvent.`)
    if (found.has(type.id)) throw new TypeError(`Two events have the id "${type.id}".`)
    found.set(type.id, type)
  }
  return found
}
