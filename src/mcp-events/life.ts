/**
 * Which of `onSubscribe` and `onUnsubscribe` is still to be called for a subscription. Whether it lives is known by its own entry
 * alone: what ends it only causes a look at it, and what expires is looked at then.
 */
import type { KeyedWrite } from '../keyed/store.ts'
import type { Core } from './core.ts'
import type { Entry } from './data.ts'
import { lifeDueKey, lifeKey } from './keys.ts'
import type { SubscriberAuth, Subscription } from './record.ts'

export interface Life {
  /** `begin`: its beginning is to be told. `live`: it was told. `end`: its end is to be told. */
  readonly phase: 'begin' | 'live' | 'end'
  /** It was subscribed again since it ended: after its end, its beginning is told again. */
  readonly isAgain?: boolean
  readonly type: string
  readonly principal: string
  readonly auth: SubscriberAuth
  readonly args: unknown
  /** Attempts of this phase, each stored before it is made. */
  readonly tries: number
  /** When the phase began. */
  readonly since: number
  /** The attempt that runs. */
  readonly attempt?: string | undefined
  /** Undefined: never, until the subscription is ended. */
  readonly dueAt: number | undefined
}

/** How long what nobody runs is stored after it was due. */
const ABANDONED_MS = 604_800_000

/** Whether an event has hooks for its subscriptions. */
export function hasHooks({ settings }: Core, name: string): boolean {
  const type = settings.types.get(name)
  return type?.onSubscribe !== undefined || type?.onUnsubscribe !== undefined
}

/** The writes of a subscription that is granted, at most two. @param isNew It did not exist before. */
export function begunWrites(
  id: string,
  life: Entry<Life> | undefined,
  { type, principal, auth, args }: Pick<Subscription, 'type' | 'principal' | 'auth' | 'args'>,
  isNew: boolean,
): KeyedWrite[] {
  const now = Date.now()
  const known = { type, principal, auth, args }
  // Also one from before the event had hooks.
  if (life === undefined)
    return lifeWrites(id, undefined, { ...known, phase: 'begin', tries: 0, since: now, dueAt: now })
  if (!isNew) return []
  if (life.value.phase === 'end') return lifeWrites(id, life, { ...life.value, ...known, isAgain: true })
  // `onUnsubscribe` was not called, so the same life goes on. No other process may decide otherwise meanwhile.
  return [{ key: lifeKey(id), ifVersion: life.version, isCheck: true }]
}

/** The write that causes a look at a subscription that has ended. */
export function endedWrites(core: Core, id: string, type: string): KeyedWrite[] {
  if (!hasHooks(core, type)) return []
  const now = Date.now()
  return [{ key: lifeDueKey(now, id), value: '1', expiresAt: now + ABANDONED_MS }]
}

/** At most four writes. Undefined: everything was told. @param found The key by which it was found to be due. */
export function lifeWrites(
  id: string,
  before: Entry<Life> | undefined,
  next: Life | undefined,
  found?: string,
): KeyedWrite[] {
  const expiry = next?.dueAt === undefined ? {} : { expiresAt: next.dueAt + ABANDONED_MS }
  const due = new Map<string, KeyedWrite>()
  const { dueAt } = before?.value ?? {}
  for (const key of [found, dueAt === undefined ? undefined : lifeDueKey(dueAt, id)])
    if (key !== undefined) due.set(key, { key })
  if (next?.dueAt !== undefined) {
    const key = lifeDueKey(next.dueAt, id)
    due.set(key, { key, value: '1', ...expiry })
  }
  const value = next && JSON.stringify(next)
  return [{ key: lifeKey(id), value, ifVersion: before?.version ?? null, ...expiry }, ...due.values()]
}
