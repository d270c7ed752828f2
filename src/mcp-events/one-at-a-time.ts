/**
 * Work that one process does one after the other. At once, each run would ask the store for the same oldest event, and all but one in
 * vain. They wait by their own timers, never for a promise of another request, which Workers may never settle.
 */
import { pause } from '../definition/pause.ts'
import { ContendedError } from './data.ts'
import type { Emitted } from './support.ts'

/** One that says nothing for this long is not waited for: its invocation may have been ended. */
const SILENT_MS = 5000
/** Longer each time: thousands may wait. */
const LOOK_MS = { first: 10, max: 160 }
/** Then an emit is refused: beside those that store, it would only be in their way. */
const EMIT_WAIT_MS = 25_000
/** Then the holder does something else, and another one may work. */
const WORK_MS = 1000

export interface Line {
  /** Who works. */
  holder: Holder | undefined
  /** How often somebody began to look for work, and the last time that there was none. */
  looks: number
  empty: number
  /** Who stores events, and the events that are not stored yet, the oldest first. */
  emitter: Holder | undefined
  readonly unstored: Set<NewEvent>
}

/** An event that is to be stored. */
export interface NewEvent {
  readonly eventId: string
  /** The key that says that it is stored, and its value, by which it is told from another event with its identifier. */
  readonly known: string
  readonly mark: string
  /** As it is stored. */
  readonly text: string
  /** Undefined until it is. */
  emitted: Emitted | undefined
}

interface Holder {
  heardAt: number
}

export const createLine = (): Line => ({
  holder: undefined,
  looks: 0,
  empty: 0,
  emitter: undefined,
  unstored: new Set(),
})

/**
 * Calls `step` until it resolves with false, which says that nothing is left. Does not call it if another has found that meanwhile.
 *
 * @param step Returns after a part of its work if there is no more time for it.
 * @returns whether nothing is left; false: there was no time, or it worked for a second.
 */
export async function oneAtATime(
  line: Line,
  step: (hasTime: () => boolean) => Promise<boolean>,
  hasTime: () => boolean,
): Promise<boolean> {
  const since = line.looks
  const hasFound = (): boolean => line.empty > since
  const isFree = await untilFree(
    () => line.holder,
    () => hasTime() && !hasFound(),
  )
  if (hasFound()) return true
  if (!isFree) return false
  const own: Holder = { heardAt: Date.now() }
  const endsAt = own.heardAt + WORK_MS
  const mayGoOn = (): boolean => hasTime() && Date.now() < endsAt
  line.holder = own
  try {
    for (;;) {
      const look = ++line.looks
      if (!(await step(mayGoOn))) {
        line.empty = Math.max(line.empty, look)
        return true
      }
      own.heardAt = Date.now()
      if (!mayGoOn()) return false
    }
  } finally {
    if (line.holder === own) line.holder = undefined
  }
}

/** Looks whether somebody still works. False: `mayWait` said no first. */
async function untilFree(holder: () => Holder | undefined, mayWait: () => boolean): Promise<boolean> {
  for (let lookMs = LOOK_MS.first; isHeld(holder()); lookMs = Math.min(2 * lookMs, LOOK_MS.max)) {
    if (!mayWait()) return false
    // Not all at the same time.
    await pause(lookMs * (0.5 + Math.random() / 2))
  }
  return true
}

const isHeld = (holder: Holder | undefined): boolean =>
  holder !== undefined && Date.now() - holder.heardAt < SILENT_MS

/**
 * Has an event stored, alone or with others, by this call or one of theirs: at once, each would change the same number, and all but one in
 * vain.
 *
 * @param store Stores `event` and some others of the line.
 * @throws what it throws, and ContendedError if others store events for 25 seconds.
 */
export async function emitInTurn(
  line: Line,
  event: NewEvent,
  store: () => Promise<Emitted>,
): Promise<Emitted> {
  const waitsUntil = Date.now() + EMIT_WAIT_MS
  line.unstored.add(event)
  try {
    const isFree = await untilFree(
      () => line.emitter,
      () => event.emitted === undefined && Date.now() < waitsUntil,
    )
    if (event.emitted !== undefined) return event.emitted
    if (!isFree)
      throw new ContendedError('More events are emitted at once than the store can take: try again.')
    const own: Holder = { heardAt: Date.now() }
    line.emitter = own
    try {
      return await store()
    } catch (error) {
      // Another call has stored it meanwhile.
      if (event.emitted !== undefined) return event.emitted
      throw error
    } finally {
      if (line.emitter === own) line.emitter = undefined
    }
  } finally {
    line.unstored.delete(event)
  }
}
