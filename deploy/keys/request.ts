/** What the command asks a store of API keys for, and how it is told. No key itself is part of either. */
import type { Audience, AudienceStore } from '../../src/keys/audience.ts'
import type { KeyInfo, KeyStore, StoredKey } from '../../src/keys.ts'

export type Asked =
  | { readonly action: 'create'; readonly stored: StoredKey }
  | { readonly action: 'list'; readonly isAll: boolean }
  | { readonly action: 'revoke'; readonly id: string }

export interface Told {
  readonly isCreated?: boolean
  readonly keys?: readonly KeyInfo[]
  /** There are more than the listed ones. */
  readonly isCut?: boolean
  readonly isRevoked?: boolean
  /** The server and stage that a new key is for. */
  readonly audience?: Audience
}

/** Keys that are read for one list, and pages. */
const MAX_KEYS = 10_000
const MAX_PAGES = 1000

/** @param store A new key is for its audience, which it then has to have. */
export async function perform(asked: Asked, store: KeyStore | AudienceStore): Promise<Told> {
  if (asked.action === 'create') {
    const isCreated = await store.create(asked.stored)
    return { isCreated, ...('audience' in store && { audience: store.audience }) }
  }
  if (asked.action === 'revoke') return { isRevoked: await store.revoke(asked.id, Date.now()) }
  const keys = new Map<string, KeyInfo>()
  let after: string | undefined
  for (let pages = 0; pages < MAX_PAGES && keys.size < MAX_KEYS; pages++) {
    const page = await store.list({ limit: 1000, after })
    for (const { hash: _, ...key } of page.keys) if (asked.isAll || isActive(key)) keys.set(key.id, key)
    after = page.next
    if (after === undefined) break
  }
  const sorted = [...keys.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  return { keys: sorted, isCut: after !== undefined }
}

export function isActive({ revokedAt, expiresAt }: KeyInfo): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > Date.now())
}
