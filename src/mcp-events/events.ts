/** `events`: what clients can subscribe to (the extension `io.modelcontextprotocol/events`, SEP-3415). */
import { isA } from '../definition/error-text.ts'
import { extension } from '../extension/extension.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import { type Core, createCore } from './core.ts'
import { ContendedError } from './data.ts'
import { emitEvent } from './emit.ts'
import { busy } from './errors.ts'
import type { DeliveryMode, EventType } from './event.ts'
import { createList } from './list.ts'
import { runEvents } from './run.ts'
import { type EventsOptions, toSettings } from './settings.ts'
import { subscribe } from './subscribe.ts'
import type { EventControls, EventSupport } from './support.ts'
import { unsubscribe } from './unsubscribe.ts'

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
  const own = extension({
    id: EVENTS_EXTENSION,
    alsoDeclaredAs: 'events',
    declaration: 'optional',
    name: 'events',
    attach: core.attach,
  })
  const controls = createControls(core)
  return {
    ...own,
    api: controls,
    ...controls,
    parts: {
      ...own.parts,
      methods: createMethods(core),
      facts: () => ({ hasEvents: true, hasLocalEvents: core.settings.store.isLocal === true }),
    },
  }
}

function createControls(core: Core): EventControls {
  return {
    async emit(name, data, options = {}) {
      const emitted = await emitEvent(core, name, data, options)
      const run = runEvents(core, options)
      options.waitUntil?.(run)
      return emitted
    },
    run(platform = {}) {
      const run = runEvents(core, platform)
      platform.waitUntil?.(run)
      return run
    },
  }
}

function createMethods(core: Core): ReadonlyMap<string, ExtensionMethod> {
  const modesFor = ({ modes = ['webhook'] }: EventType): DeliveryMode[] =>
    modes.filter((mode) => mode === 'webhook')
  const list = createList(core, modesFor)
  const method = (run: ExtensionMethod['run']): ExtensionMethod => ({
    eras: ['modern', 'legacy'],
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
    ['events/subscribe', method((scope, params) => subscribe(core, scope, params))],
    ['events/unsubscribe', method((scope, params) => unsubscribe(core, scope, params))],
  ])
}
