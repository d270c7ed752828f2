/**
 * A line on the console for what an operator should know of deliveries: that they begin to fail, are suspended, were given up, or work
 * again. Of a URL they contain the host alone, and neither what was sent nor what was answered. At most some lines a minute.
 */
import { toJsonLine } from '../definition/json-line.ts'
import type { TracedGivenUp } from '../request/telemetry.ts'
import type { DeliveryError, PostOutcome } from './contract.ts'
import type { Subscription } from './record.ts'

/** What a line tells. */
type Told = Pick<Subscription, 'url' | 'type' | 'owner' | 'lastError' | 'failedSince'>

export interface DeliveryLog {
  /** `mayfly dev` allows webhooks of this machine. */
  allowsLoopback(): void
  /** What a request has changed. @param tries Requests with its event so far. */
  note(id: string, before: Subscription, after: Subscription, outcome: PostOutcome, tries?: number): void
  /** The endpoint of a new subscription did not prove that it wants events. */
  notVerified(id: string, subscription: Told, reason: DeliveryError): void
  /** @param events How many of them. */
  gaveUp(id: string, subscription: Subscription, reason: TracedGivenUp['reason'], events: number): void
}

/** Lines of one process in a minute: about one host, about the subscriptions of one principal, and in all. */
const MAX_OF_HOST = 3
const MAX_OF_PRINCIPAL = 6
const MAX_LINES = 60
const MINUTE_MS = 60_000

const NEXT_TRY = 'They are tried again, with longer pauses each time.'
const AFTER_REFRESH = 'Events wait until its client refreshes it.'

const COMPARE_SECRETS =
  'The endpoint refused the signature or the request: compare its secret with that of the subscription. '

/** Said of an endpoint that was verified: its secret was changed afterwards, or that of the subscription. */
const hintOf = (outcome: PostOutcome): string =>
  'status' in outcome && (outcome.status === 401 || outcome.status === 403) ? COMPARE_SECRETS : ''

/** @param isSilent Whether the server has no log. */
export function createDeliveryLog(isSilent: () => boolean): DeliveryLog {
  let minute = 0
  let lines = 0
  let suppressed = 0
  const counts = new Map<string, number>()
  /** Whether there is room for one more of each name. */
  const isFree = (limits: readonly (readonly [name: string, max: number])[]): boolean => {
    const now = Math.floor(Date.now() / MINUTE_MS)
    if (now !== minute) {
      minute = now
      lines = 0
      counts.clear()
    }
    if (lines >= MAX_LINES || limits.some(([name, max]) => (counts.get(name) ?? 0) >= max)) return false
    lines++
    for (const [name] of limits) counts.set(name, (counts.get(name) ?? 0) + 1)
    return true
  }
  const write = (
    level: 'info' | 'warn',
    id: string,
    { url, type, owner, lastError }: Told,
    what: string,
    more: object = {},
  ): void => {
    if (isSilent()) return
    const { host } = new URL(url)
    const limits = [
      [`h:${host}`, MAX_OF_HOST],
      [`p:${owner}`, MAX_OF_PRINCIPAL],
    ] as const
    if (!isFree(limits)) {
      suppressed++
      return
    }
    const line = {
      level,
      time: new Date().toISOString(),
      message: `Deliveries of event "${type}" to ${host} ${what}`,
      event: type,
      host,
      subscription: id,
      ...(lastError !== undefined && { error: lastError }),
      ...more,
      ...(suppressed > 0 && { suppressed }),
    }
    suppressed = 0
    // To the error output: on stdio, the other one has the messages of the server.
    console.warn(toJsonLine(line))
  }
  return {
    allowsLoopback() {
      if (isSilent()) return
      const message =
        'mayfly dev or preview runs this server, so webhooks of this machine may be subscribed. Where it is deployed, they are refused.'
      console.warn(toJsonLine({ level: 'info', time: new Date().toISOString(), message }))
    },
    note(id, before, after, outcome, tries) {
      const hint = hintOf(outcome)
      if (before.isActive && !after.isActive)
        write('warn', id, after, `are suspended. ${hint}${AFTER_REFRESH}`, {
          ...(after.failedSince !== undefined && { failedSince: new Date(after.failedSince).toISOString() }),
        })
      else if (before.failures === 0 && after.failures > 0 && before.lastError === undefined)
        write('warn', id, after, `fail (${after.lastError}). ${hint}${NEXT_TRY}`, { tries })
      else if (before.lastError !== undefined && after.lastError === undefined)
        write('info', id, after, 'work again.')
    },
    notVerified(id, subscription, reason) {
      write('warn', id, subscription, 'cannot begin: it was not verified.', { error: reason })
    },
    gaveUp(id, subscription, reason, events) {
      const why = reason === 'refused' ? 'the endpoint refused it' : 'it was deleted first'
      write('warn', id, subscription, `were given up: ${why}. See mayfly events list.`, { reason, events })
    },
  }
}
