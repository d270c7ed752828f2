/** `events`: what clients can subscribe to (the extension `io.modelcontextprotocol/events`, SEP-3415). */
import { isA } from '../definition/error-text.ts'
import { NO_MEMBERS } from '../definition/json-members.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { extension } from '../extension/extension.ts'
import { type Begin, createHold } from '../extension/held-call.ts'
import { META } from '../protocol/envelope.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import type { RequestScope } from '../request/request-server.ts'
import { type Core, createCore, operatedOf } from './core.ts'
import { ContendedError } from './data.ts'
import { emitEvent } from './emit.ts'
import { busy, unsupported } from './errors.ts'
import type { DeliveryMode, EventType } from './event.ts'
import { hasHooks } from './life.ts'
import { createList } from './list.ts'
import { poll } from './poll.ts'
import { type EventsOptions, toSettings } from './settings.ts'
import { streamEvents } from './stream.ts'
import { subscribe } from './subscribe.ts'
import type { EmitOptions, EventControls, EventPlatform, EventSupport } from './support.ts'
import { unsubscribe } from './unsubscribe.ts'
import { createWaking, type Waking } from './waking.ts'

const EVENTS_EXTENSION = 'io.modelcontextprotocol/events'

/**
 * Creates the `events` of a server.
 *
 * ```ts
 * events: events({ types: { incident }, store: createMemoryEvents() })
 * ```
 *
 * @throws TypeError for an unknown or invalid option.
 */
export function events(options: EventsOptions): EventSupport {
  const core = createCore(toSettings(options))
  const waking = createWaking(core, core.settings.runner)
  const own = extension({
    id: EVENTS_EXTENSION,
    alsoDeclaredAs: 'events',
    declaration: 'optional',
    name: 'events',
    settings: ({ era, hasBus }) => (era === 'modern' && hasBus ? { listChanged: true } : {}),
    changes: { eventsListChanged: 'notifications/events/list_changed' },
    attach: core.attach,
    close: waking.close,
  })
  const controls = createControls(core, waking, () => own.notifyChanged('eventsListChanged'))
  operatedOf.set(controls, { core, wake: waking.emitted })
  return {
    ...own,
    api: controls,
    ...controls,
    parts: {
      ...own.parts,
      methods: createMethods(core, waking),
      facts: () => ({
        hasEvents: true,
        hasLocalEvents: core.settings.store.isLocal === true,
        hasEventRunner: core.settings.runner !== undefined,
        hasEventSender: core.settings.deliver !== undefined,
        sendsEventsToLoopback: core.settings.allowLoopback,
        eventScopes: Object.fromEntries([...core.settings.types].map(([id, { scopes }]) => [id, scopes])),
      }),
    },
  }
}

const PLATFORM: Names<EventPlatform> = { env: 1, waitUntil: 'function', deadline: [0] }
const EMIT: Names<EmitOptions> = { ...PLATFORM, eventId: 'string', timestamp: 'object' }

function createControls(core: Core, waking: Waking, notifyListChanged: () => Promise<void>): EventControls {
  return {
    async emit(name, data, options = {}) {
      refuseUnknown('events.emit', options, EMIT)
      const emitted = await emitEvent(core, name, data, options)
      await waking.emitted()
      if (waking.isPrompt) return emitted
      const run = waking.run(options)
      options.waitUntil?.(run)
      return emitted
    },
    async run(platform = {}) {
      refuseUnknown('events.run', platform, PLATFORM)
      const run = waking.run(platform)
      platform.waitUntil?.(run)
      return run
    },
    notifyListChanged,
  }
}

const ERAS = ['modern', 'legacy'] as const

/** Hooks of a subscription are called in this invocation, or by the runner. */
function tellOf(core: Core, waking: Waking, act: typeof subscribe): ExtensionMethod['run'] {
  return async (scope, params) => {
    const result = await act(core, scope, params)
    if (!hasHooks(core, String(params.name))) return result
    const { env, deadline, waitUntil } = scope.context
    await waking.emitted()
    if (!waking.isPrompt) waitUntil(waking.run({ env, deadline }))
    return result
  }
}

function createMethods(core: Core, waking: Waking): ReadonlyMap<string, ExtensionMethod> {
  const list = createList(core, modesFor)
  const method = (run: ExtensionMethod['run']): ExtensionMethod => ({
    eras: ERAS,
    async run(scope, params, ...rest) {
      try {
        return await run(scope, params, ...rest)
      } catch (error) {
        throw isA(error, ContendedError) ? busy() : error
      }
    },
  })
  return new Map([
    ['events/list', { ...method(list), caching: 'list' as const }],
    ['events/subscribe', method(tellOf(core, waking, subscribe))],
    ['events/unsubscribe', method(tellOf(core, waking, unsubscribe))],
    ['events/poll', method((scope, params) => poll(core, scope, params))],
    ['events/stream', streamMethod(core)],
  ])
}

/** How this caller can receive an event. */
function modesFor(
  { modes = ['poll', 'push', 'webhook'] }: EventType,
  { context }: RequestScope,
): readonly DeliveryMode[] {
  const hasMode = { poll: true, push: context.conditions.canStream, webhook: context.auth !== undefined }
  return modes.filter((mode) => hasMode[mode])
}

function streamMethod(core: Core): ExtensionMethod {
  const begin: Begin = async (scope, params) => {
    const steps = streamEvents(core, scope, params)
    const _meta = { [META.subscriptionId]: scope.context.parts.wire.rpcId }
    return {
      async next() {
        const { done, value } = await steps.next()
        return done
          ? { result: { members: NO_MEMBERS } }
          : { method: value.method, params: { ...value.params, _meta } }
      },
      end: () => void steps.return().catch(core.report),
    }
  }
  return {
    eras: ERAS,
    run() {
      throw unsupported('deliveryMode', 'push', 'This transport cannot stream: poll with events/poll.')
    },
    hold: createHold(begin),
  }
}
