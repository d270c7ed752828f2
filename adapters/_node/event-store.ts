/**
 * Stores the events of streams, so that clients can resume a stream they lost.
 */

import { ANSWER_TIMEOUT_MS, withTimeout } from '../../src/definition/timeout.ts'

/** The same interface as `EventStore` of SDK v1. */
export interface EventStore {
  storeEvent(streamId: string, message: never): Promise<string>
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: never) => Promise<void> },
  ): Promise<string>
}

/**
 * One session's part of a store that all sessions share. The SDK's transport uses the same name for the notification stream of every
 * session: without separation, an event id of one session could replay the events of another.
 *
 * Errors of the store are reported, and the events are sent without an id: the stream continues but cannot be resumed. The
 * transport itself would end the call, and send its client the reason.
 */
export function createSessionStore(store: EventStore, onFault: (error: unknown) => void): EventStore {
  const prefix = `${crypto.randomUUID()}.`
  // Stores often join stream ids and event ids with an underscore.
  const toShared = (streamId: string): string => prefix + streamId.replaceAll('_', '%5F')
  const toOwn = (shared: string | undefined): string | undefined =>
    shared?.startsWith(prefix) ? shared.slice(prefix.length).replaceAll('%5F', '_') : undefined
  const { getStreamIdForEventId } = store
  const attempt = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await withTimeout(work(), ANSWER_TIMEOUT_MS, 'event store')
    } catch (error) {
      onFault(error)
      return undefined
    }
  }
  return {
    storeEvent: async (streamId, message) =>
      (await attempt(() => store.storeEvent(toShared(streamId), message))) ?? '',
    ...(getStreamIdForEventId !== undefined && {
      getStreamIdForEventId: async (eventId: string) =>
        toOwn(await attempt(() => getStreamIdForEventId.call(store, eventId))),
    }),
    async replayEventsAfter(lastEventId, { send }) {
      // Buffered until the store reports whose stream it was.
      const events: [string, never][] = []
      const shared = await attempt(() =>
        store.replayEventsAfter(lastEventId, {
          send: async (eventId, message) => void events.push([eventId, message]),
        }),
      )
      const own = toOwn(shared)
      if (own === undefined) throw new Error('The event id is unknown to this server.')
      for (const [eventId, message] of events) await send(eventId, message)
      return own
    },
  }
}
