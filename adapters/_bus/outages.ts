/** Outages of a server behind one or more clients: reported once, from the first failure until all parts are back. */
import { createOutage, markReported, type Report } from '../../src/events/outage.ts'

export interface Outages {
  /**
   * Counts a part as down: a client, or one of its operations.
   *
   * @param startedAt when the failed call began (epoch ms): one that began before the end of an outage begins no other.
   */
  begin(part: unknown, error: unknown, startedAt?: number): void
  end(part: unknown): void
}

/** By client, so that an outage is reported once for all its users. */
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
      // The server also gets this error and does not have to report it again.
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
 * Counts a lost connection as an outage until it is back. Adds an error listener if the client has none, since its errors would end the
 * process.
 */
export function watchConnection(client: object, outages: Outages): void {
  const emitter = client as Emitter
  if (emitter.listenerCount?.('error') !== 0) return
  emitter.on?.('error', (error) => outages.begin(client, error))
  emitter.on?.('ready', () => outages.end(client))
}
