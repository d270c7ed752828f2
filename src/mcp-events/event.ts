/** `createEvent`: what may happen, who may subscribe to it, and who receives it. */

import type { Meta } from '../definition/content.ts'
import { isObject } from '../definition/is-object.ts'
import {
  type CompiledSchema,
  compileSchema,
  type InferInput,
  type InferOutput,
  type Schema,
} from '../definition/schema.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import type { SubscriberAuth } from './record.ts'
import type { ReplayContext, ReplayPage, ReplayQuery } from './replay.ts'

/** How clients receive events of a type. */
export type DeliveryMode = 'poll' | 'push' | 'webhook'

/** Who subscribes, or has subscribed: at a delivery there is no request. */
export interface Subscriber {
  /** The caller as one string, the same at every request; empty without authentication. */
  readonly principal: string
  /** What is known of the caller, without its token. Undefined without authentication. */
  readonly auth: SubscriberAuth | undefined
  /** The platform's bindings, if the request or `run` had them. */
  readonly env: unknown
}

/** A subscription, for `onSubscribe` and `onUnsubscribe`. */
export interface SubscriptionInfo<Args = unknown> extends Omit<Subscriber, 'env'> {
  /** The same for the same caller, URL, event and arguments, at any time. */
  readonly id: string
  /** The `id` of the event. */
  readonly name: string
  readonly args: Args
}

/** What `onSubscribe` and `onUnsubscribe` get beside the subscription. */
export interface HookContext {
  /** The platform's bindings, if the request or `run` had them. */
  readonly env: unknown
  /** Aborts after 10 seconds. */
  readonly signal: AbortSignal
}

type ArgumentsOf<I> = I extends Schema ? InferOutput<I> : { readonly [name: string]: never }
type DataOf<P> = P extends Schema ? InferOutput<P> : { readonly [name: string]: unknown }

/** The options of `createEvent`. */
export interface EventConfig<
  I extends Schema | undefined = undefined,
  P extends Schema | undefined = undefined,
> {
  /** Its name for clients: 1 to 128 letters, digits, `_`, `-` and `.`. */
  id: string
  /** What happens, for the model that chooses what to subscribe to. */
  description: string
  /** The arguments of a subscription. Default: none are accepted. */
  inputSchema?: I
  /** The data of an event: an object. Default: any. Other data is refused by `emit`. */
  payloadSchema?: P
  /** The scopes that a subscriber's token must have. Others do not see the event. Default: none. */
  scopes?: readonly string[]
  /**
   * Arguments that select events by a member of their data with the same name and value, at most 4: `['severity']`. A subscription without
   * the argument receives all values. Found by an index, while `matches` is asked for each subscription that the index leaves. Default: none.
   */
  index?: readonly string[]
  /** Whether a subscription with these arguments receives an event with this data. Default: each does that the index finds. */
  matches?: (data: DataOf<P>, args: ArgumentsOf<I>) => boolean
  /**
   * Whether this caller may subscribe with these arguments. Asked at each request, and again before each delivery: a subscription that
   * it refuses ends. What it throws is reported; then the request fails, and a delivery is tried later. Default: it may.
   */
  canSubscribe?: (args: ArgumentsOf<I>, subscriber: Subscriber) => boolean | Promise<boolean>
  /**
   * Reads the past from the system that has it, for `events/poll`, and for `events/stream` before what is emitted. A cursor is that system's
   * own. Has 10 seconds. Default: the events that were emitted, as long as `retentionMs` and `maxEvents` store them.
   */
  replay?: (
    query: ReplayQuery<ArgumentsOf<I>>,
    context: ReplayContext,
  ) => ReplayPage<DataOf<P>> | Promise<ReplayPage<DataOf<P>>>
  /**
   * Called after a webhook subscription began, for example to watch something for it; a refresh does not call it. Has 10 seconds. What it
   * throws is reported, and it is called again: after 5 seconds, then twice as long each time, up to an hour. It may be called twice if the
   * process dies meanwhile: `subscription.id` is the same then. Deliveries do not wait for it. Default: nothing.
   */
  onSubscribe?: (subscription: SubscriptionInfo<ArgumentsOf<I>>, context: HookContext) => unknown
  /**
   * Called after a subscription ended: it was unsubscribed, expired or refused by `canSubscribe`. As `onSubscribe`; after a day of failures
   * it is not called any more. Default: nothing.
   */
  onUnsubscribe?: (subscription: SubscriptionInfo<ArgumentsOf<I>>, context: HookContext) => unknown
  /** How clients may receive it: `webhook` needs an authenticated caller, `push` a response that can be streamed. Default: all. */
  modes?: readonly DeliveryMode[]
  /** `_meta` of its entry in `events/list`. Default: none. */
  _meta?: Meta
}

type Hook = (subscription: SubscriptionInfo, context: HookContext) => unknown

/** An event, with any schemas. */
export interface EventType {
  readonly id: string
  readonly description: string
  readonly input: CompiledSchema | undefined
  readonly payload: CompiledSchema | undefined
  readonly scopes: readonly string[]
  readonly index: readonly string[]
  readonly matches: ((data: unknown, args: unknown) => boolean) | undefined
  readonly canSubscribe: ((args: unknown, subscriber: Subscriber) => boolean | Promise<boolean>) | undefined
  readonly replay: ((query: ReplayQuery, context: ReplayContext) => unknown) | undefined
  readonly onSubscribe: Hook | undefined
  readonly onUnsubscribe: Hook | undefined
  readonly modes: readonly DeliveryMode[] | undefined
  readonly _meta: Meta | undefined
}

/** An event with the type of its data. */
export interface OwnEventType<Data> extends EventType {
  /** Only a type. */
  readonly data?: Data
}

const OPTIONS: Names<EventConfig<Schema, Schema>> = {
  id: 'string',
  description: 'string',
  inputSchema: 1,
  payloadSchema: 1,
  scopes: 'strings',
  index: 'strings',
  matches: 'function',
  canSubscribe: 'function',
  replay: 'function',
  onSubscribe: 'function',
  onUnsubscribe: 'function',
  modes: 'strings',
  _meta: 'object',
}

/** Subscriptions are looked for 2 to the power of this times. */
const MAX_INDEX = 4
const MODES = ['poll', 'push', 'webhook']

/**
 * An event that clients can subscribe to (SEP-3415), for the option `types` of `events`.
 *
 * ```ts
 * createEvent({
 *   id: 'incident.created',
 *   description: 'A new incident',
 *   inputSchema: z.object({ severity: z.enum(['P1', 'P2']).optional() }),
 *   payloadSchema: z.object({ title: z.string(), severity: z.string() }),
 *   index: ['severity'],
 * })
 * ```
 *
 * @throws TypeError for an unknown or invalid option.
 */
export function createEvent<
  const I extends Schema | undefined = undefined,
  const P extends Schema | undefined = undefined,
>(config: EventConfig<I, P>): OwnEventType<P extends Schema ? InferInput<P> : object> {
  requireOptions('createEvent', config, OPTIONS, 'id', 'description')
  const { id, description, scopes = [], index = [], modes } = config
  if (!/^[\w.-]{1,128}$/.test(id))
    throw new TypeError(`"${id}" is not the name of an event: write letters, digits, "_", "-" and ".".`)
  if (description === '') throw new TypeError(`Event "${id}" needs a "description": models choose by it.`)
  if (index.length > MAX_INDEX || new Set(index).size < index.length)
    throw new TypeError(`"index" of event "${id}" must have at most ${MAX_INDEX} names, each once.`)
  if (modes !== undefined && (modes.length === 0 || !modes.every((mode) => MODES.includes(mode))))
    throw new TypeError(`"modes" of event "${id}" must be a list of ${MODES.join(', ')}.`)
  const compile = (
    schema: unknown,
    name: string,
    direction: 'input' | 'output',
  ): CompiledSchema | undefined =>
    schema === undefined ? undefined : compileSchema(schema, `"${name}" of event "${id}"`, direction)
  const input = compile(config.inputSchema, 'inputSchema', 'input')
  const payload = compile(config.payloadSchema, 'payloadSchema', 'output')
  for (const name of index)
    if (!mayHave(config.inputSchema, input, name) || !mayHave(config.payloadSchema, payload, name))
      throw new TypeError(
        `"index" of event "${id}" has "${name}", which is not in its "inputSchema", or not in its "payloadSchema".`,
      )
  return {
    id,
    description,
    input,
    payload,
    scopes,
    index,
    matches: config.matches as EventType['matches'],
    canSubscribe: config.canSubscribe as EventType['canSubscribe'],
    replay: config.replay as EventType['replay'],
    onSubscribe: config.onSubscribe as EventType['onSubscribe'],
    onUnsubscribe: config.onUnsubscribe as EventType['onUnsubscribe'],
    modes,
    _meta: config._meta,
  }
}

/** Whether an object of the schema may have a member, as far as the schema says so. */
function mayHave(given: unknown, schema: CompiledSchema | undefined, name: string): boolean {
  // Its JSON Schema would be made now, when the module loads.
  if (schema?.isPlainObject === true && isObject(given) && isObject(given.shape))
    return Object.hasOwn(given.shape, name)
  const { properties, additionalProperties = false } = schema?.jsonSchema ?? {}
  return !isObject(properties) || additionalProperties !== false || Object.hasOwn(properties, name)
}
