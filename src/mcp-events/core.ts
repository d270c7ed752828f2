/** What all parts of Events share. */
import { callHook } from '../definition/hook.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { ExtensionHost } from '../request/extension.ts'
import type { EventTelemetry } from '../request/telemetry.ts'
import { isInIndex } from './canonical.ts'
import type { EventSender } from './contract.ts'
import { createData, type Data } from './data.ts'
import { isLoopbackUrl } from './deliver/callback-url.ts'
import { createFetchSender } from './deliver/fetch-sender.ts'
import { createDeliveryLog, type DeliveryLog } from './delivery-log.ts'
import type { EventType, Subscriber } from './event.ts'
import { type AllowsLoopback, createAllowsLoopback } from './local-webhooks.ts'
import { createLine, type Line } from './one-at-a-time.ts'
import type { Settings } from './settings.ts'

export interface Core {
  readonly settings: Settings
  readonly data: Data
  readonly sender: EventSender
  readonly deliveryLog: DeliveryLog
  readonly allowsLoopback: AllowsLoopback
  /** Of the runs that put in events of this type. */
  lineOf(type: string): Line
  /** The server and its stage. */
  tag(): string
  report(error: unknown): void
  /** Undefined: nobody measures. Its functions are code of the user: call them within `tell`. */
  telemetry(): EventTelemetry | undefined
  /** Tells the telemetry of the server, if there is one. Its errors are reported, and nothing waits for it. */
  tell(record: (telemetry: EventTelemetry, server: string) => void): void
  host(): ExtensionHost
  attach(host: ExtensionHost): void
}

/** The events of a server, for `mayfly-mcp/events-admin`: by what it has as `server.events`. */
export const operatedOf = new WeakMap<object, Operated>()

export interface Operated {
  readonly core: Core
  /** The runner causes a run soon. */
  wake(): Promise<void>
}

export function createCore(settings: Settings): Core {
  let host: ExtensionHost | undefined
  const hosted = (): ExtensionHost => {
    if (host === undefined)
      throw new TypeError('These events do not belong to a server: pass them to MCPServer as "events".')
    return host
  }
  const lines = new Map<string, Line>([...settings.types.keys()].map((id) => [id, createLine()]))
  const deliveryLog = createDeliveryLog(() => hosted().isSilent)
  const allowsLoopback = createAllowsLoopback(settings.allowLoopback, deliveryLog.allowsLoopback)
  return {
    settings,
    lineOf: (type) => lines.get(type)!,
    sender: bounded(settings.deliver ?? createFetchSender(), allowsLoopback),
    deliveryLog,
    allowsLoopback,
    data: createData(settings.store, () => hosted().owner.tag()),
    tag: () => hosted().owner.tag(),
    report: (error) => hosted().options().reportError(error, { events: true }),
    telemetry: () => hosted().telemetry?.events,
    tell(record) {
      const { telemetry, owner, options } = hosted()
      const events = telemetry?.events
      if (events === undefined) return
      callHook(
        () => record(events, owner.id),
        (error) => options().reportError(error, { telemetry: true, events: true }),
      )
    },
    host: hosted,
    attach(given) {
      if (host !== undefined)
        throw new TypeError('These events belong to another server: create events for each server.')
      host = given
      for (const { id, scopes } of settings.types.values()) given.requireCallers(id, scopes)
    },
  }
}

/** A moment more than a sender has, so that it can tell itself that the time was over. */
const GRACE_MS = 500

function bounded(sender: EventSender, allowsLoopback: AllowsLoopback): EventSender {
  return {
    post(url, request, given) {
      const limits = { ...given, allowLoopback: allowsLoopback() && isLoopbackUrl(new URL(url)) }
      return withTimeout(
        sender.post(url, request, limits),
        limits.timeoutMs + GRACE_MS,
        'sender of "deliver"',
      )
    },
  }
}

/** Asks the user's code. @throws what it throws, and TimeoutError after 10 seconds. */
export async function maySubscribe(type: EventType, args: unknown, subscriber: Subscriber): Promise<boolean> {
  const { scopes, canSubscribe, id } = type
  const { auth } = subscriber
  if (auth !== undefined && !scopes.every((scope) => auth.scopes.includes(scope))) return false
  if (canSubscribe === undefined) return true
  const answer = await withTimeout(
    canSubscribe(args, subscriber),
    ANSWER_TIMEOUT_MS,
    `"canSubscribe" of event "${id}"`,
  )
  return answer === true
}

/** Whether an event is for somebody with these arguments. An error of the user's code is reported, and means no. */
export function isWanted(core: Core, type: EventType, data: unknown, args: unknown): boolean {
  if (!isInIndex(type.index, args, data)) return false
  try {
    return type.matches === undefined || type.matches(data, args) === true
  } catch (error) {
    core.report(error)
    return false
  }
}
