/**
 * The user's hooks for sessions. The SDK's transport would send their errors to the client, and end the call or the session.
 */
import { ANSWER_TIMEOUT_MS, withTimeout } from '../../src/definition/timeout.ts'
import type { Names } from '../../src/definition/unknown-option.ts'
import { createSessionStore, type EventStore } from './event-store.ts'

export interface Hooks {
  /** Creates session ids, which must be unguessable. Default `crypto.randomUUID`. */
  sessionIdGenerator?: () => string
  onsessioninitialized?: (sessionId: string) => void | Promise<void>
  onsessionclosed?: (sessionId: string) => void | Promise<void>
  /** Stores events, which makes streams resumable. Default: not resumable. */
  eventStore?: EventStore
}

/** The names of `Hooks`. */
export const HOOKS: Names<Hooks> = {
  sessionIdGenerator: 'function',
  onsessioninitialized: 'function',
  onsessionclosed: 'function',
  eventStore: 'object',
}

/** The hooks of one session. Their errors are reported; only if no id can be created, no session is opened. */
export function guardHooks(
  {
    sessionIdGenerator = () => crypto.randomUUID(),
    onsessioninitialized,
    onsessionclosed,
    eventStore,
  }: Hooks,
  onFault: (error: unknown) => void,
): Required<Omit<Hooks, 'eventStore'>> & Pick<Hooks, 'eventStore'> {
  const guarded = (name: string, hook: Hooks['onsessionclosed']) => async (id: string) => {
    try {
      await withTimeout(hook?.(id), ANSWER_TIMEOUT_MS, `hook "${name}"`)
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
    onsessioninitialized: guarded('onsessioninitialized', onsessioninitialized),
    onsessionclosed: guarded('onsessionclosed', onsessionclosed),
    ...(eventStore !== undefined && { eventStore: createSessionStore(eventStore, onFault) }),
  }
}
