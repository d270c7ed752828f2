/**
 * What users give to sessions. The SDK's transport would send what it throws to the client, and end the call or the session by it.
 */
import { createSessionStore, type EventStore } from './event-store.ts'

export interface Hooks {
  /** Makes ids that cannot be guessed. Default `crypto.randomUUID`. */
  sessionIdGenerator?: () => string
  onsessioninitialized?: (sessionId: string) => void | Promise<void>
  onsessionclosed?: (sessionId: string) => void | Promise<void>
  /** Makes streams resumable. Default: they are not. */
  eventStore?: EventStore
}

/** The hooks for one session: what they throw is reported. Only where no id can be made there is no session. */
export function guardHooks(
  {
    sessionIdGenerator = () => crypto.randomUUID(),
    onsessioninitialized,
    onsessionclosed,
    eventStore,
  }: Hooks,
  onFault: (error: unknown) => void,
): Required<Omit<Hooks, 'eventStore'>> & Pick<Hooks, 'eventStore'> {
  const guarded = (hook: Hooks['onsessionclosed']) => async (id: string) => {
    try {
      await hook?.(id)
    } catch (error) {
      onFault(error)
    }
  }
  return {
    sessionIdGenerator() {
      try {
        return sessionIdGenerator()
      } catch (error) {
        onFault(error)
        throw new Error('No session can be opened.')
      }
    },
    onsessioninitialized: guarded(onsessioninitialized),
    onsessionclosed: guarded(onsessionclosed),
    ...(eventStore !== undefined && { eventStore: createSessionStore(eventStore, onFault) }),
  }
}
