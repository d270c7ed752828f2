/**
 * Keeping the events of streams, so that clients who lost one can take it up again.
 */

/** As SDK v1's `EventStore`. */
export interface EventStore {
  storeEvent(streamId: string, message: never): Promise<string>
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: never) => Promise<void> },
  ): Promise<string>
}

/**
 * One session's part of a store that all sessions share. The SDK's transport names the stream of notifications alike in every session, so
 * without it the event id of one session would replay what another was told.
 *
 * A store that fails is reported, and its events are sent without an id: the stream goes on, and cannot be resumed. The transport would
 * end the call, and tell its client why.
 */
export function createSessionStore(store: EventStore, onFault: (error: unknown) => void): EventStore {
  const prefix = `${crypto.randomUUID()}.`
  // Stores are known to put stream ids and event ids together with an underscore.
  const toShared = (streamId: string): string => prefix + streamId.replaceAll('_', '%5F')
  const toOwn = (shared: string | undefined): string | undefined =>
    shared?.startsWith(prefix) ? shared.slice(prefix.length).replaceAll('%5F', '_') : undefined
  const { getStreamIdForEventId } = store
  const attempt = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await work()
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
      // Held back until the store says whose stream it was.
      const events: [string, never][] = []
      const shared = await attempt(() =>
        store.replayEventsAfter(lastEventId, {
          send: async (eventId, message) => void events.push([eventId, message]),
        }),
      )
      const own = toOwn(shared)
      if (own === undefined) throw new Error('The event id is not known to this server.')
      for (const [eventId, message] of events) await send(eventId, message)
      return own
    },
  }
}
