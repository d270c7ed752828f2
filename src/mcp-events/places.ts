/** Where a subscription is listed besides its own entry: for the quotas, and by what it wants. */
import type { KeyedWrite } from '../keyed/store.ts'
import { countedKey, matchKey, ownedKey } from './keys.ts'
import type { Subscription } from './record.ts'

type Listed = Pick<Subscription, 'type' | 'owner' | 'pattern'>

/** Three writes. @param expiresAt null: never. */
export function listedWrites(id: string, listed: Listed, expiresAt: number | null): KeyedWrite[] {
  const expiry = expiresAt === null ? {} : { expiresAt }
  return keysOf(id, listed).map((key) => ({ key, value: '1', ...expiry }))
}

/** Three writes. */
export function unlistedWrites(id: string, listed: Listed): KeyedWrite[] {
  return keysOf(id, listed).map((key) => ({ key }))
}

function keysOf(id: string, { type, owner, pattern }: Listed): string[] {
  return [ownedKey(owner, id), countedKey(id), matchKey(type, pattern, id)]
}
