/**
 * Outages of a server behind a client, or several: reported once, from the first part that fails until the last is back.
 */
import { createOutage, markReported, type Report } from '../../src/events/outage.ts'

export interface Outages {
  /**
   * Counts a part as down: a client, or what one does.
   *
   * @param startedAt when the failed call began (epoch ms): one that began before the end of an outage begins no other.
   */
  begin(part: unknown, error: unknown, startedAt?: number): void
  end(part: unknown): void
}

/** By client: whatever uses it, an outage is reported once. */
const known = new WeakMap<object, Outages>()

export function outagesOf(client: object, report: Report): Outages {
  const outages = known.get(client) ?? createOutages(report)
  known.set(client, outages)
  return outages
}

function createOutages(report: Report): Outages {
  const outage = createOutage(report)
  const down = new Set<unknown>()
  let endedAt = 0
  return {
    begin(part, error, startedAt = Number.POSITIVE_INFINITY) {
      // The server that hears of it as well need not report it either.
      if (startedAt <= endedAt) return markReported(error)
      outage.begin(error)
      down.add(part)
    },
    end(part) {
      if (!down.delete(part) || down.size > 0) return
      outage.end()
      endedAt = Date.now()
    },
  }
}

/** The event methods of a client, if it has them. */
interface Emitter {
  on?(event: string, listener: (error?: unknown) => void): unknown
  listenerCount?(event: string): number
}

/**
 * Counts a lost connection as an outage until it is back. A client without a listener for its errors would end the process; if it already
 * has one, nothing is added.
 */
export function watchConnection(client: object, outages: Outages): void {
  const emitter = client as Emitter
  if (emitter.listenerCount?.('error') !== 0) return
  emitter.on?.('error', (error) => outages.begin(client, error))
  emitter.on?.('ready', () => outages.end(client))
}
