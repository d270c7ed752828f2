/**
 * The provider's tokens of a connection: sealed in the store, and refreshed by one process at a time, since many providers accept a refresh
 * token once.
 */
import { isA } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import { withTimeout } from '../../definition/timeout.ts'
import type { SignInKeys } from '../keys.ts'
import type { Signing } from '../signing.ts'
import type { GrantEntry } from '../store/store.ts'
import { grantKey, upstreamKey } from '../tokens/grants.ts'
import { commit, SignInBusyError, type Unit } from '../unit.ts'
import {
  UpstreamFault,
  type UpstreamIdentity,
  UpstreamRefusedError,
  type UpstreamTokens,
  UpstreamUnavailableError,
} from './upstream.ts'

/** A token is renewed before it expires by so much. */
const MARGIN_MS = 60_000
/** A process that refreshes is waited for, and taken for dead after this time. */
const LEASE_MS = 15_000
const POLL_MS = 200
/** The time of a code: without the tokens of the connection, those of the provider are not kept. */
const CODE_MS = 600_000
/** Milliseconds for one answer of the provider: less than the lease, which another process takes afterwards. */
export const UPSTREAM_TIMEOUT_MS = 12_000

/** The tokens, and whose they are. */
export type PersonTokens = UpstreamTokens & Pick<UpstreamIdentity, 'issuer' | 'subject'>

interface Stored {
  /** Of `PersonTokens`. */
  readonly sealed: string
  readonly lease?: { readonly id: string; readonly until: number }
}

/**
 * The provider ended the session, or the person may no longer sign in, so the connection is ended, too: the app will ask to sign in again. `code` is `upstream_sign_in_needed`;
 * the `cause` is what the provider answered, if it was asked.
 */
export class UpstreamSignInError extends Error {
  override readonly name = 'UpstreamSignInError'
  readonly code = 'upstream_sign_in_needed'
}

type Own = Pick<Signing, 'env' | 'store' | 'keys' | 'upstream' | 'lifetimes'>

export async function storeUpstreamTokens(
  { keys }: Signing,
  unit: Unit,
  sub: string,
  grantId: string,
  tokens: PersonTokens,
): Promise<void> {
  const key = upstreamKey(sub, grantId)
  unit.put(key, await toText(keys, key, tokens), Date.now() + CODE_MS)
}

/**
 * They last as long as the connection: about twice, so that few refreshes of it write them. These seal them again: tokens that the provider
 * does not renew would otherwise need an old secret for as long as the connection is used.
 */
export async function keepUpstreamTokens(
  { keys }: Pick<Signing, 'keys'>,
  unit: Unit,
  sub: string,
  grantId: string,
): Promise<void> {
  const key = upstreamKey(sub, grantId)
  const entry = await unit.peek(key)
  if (entry?.expiresAt === undefined) return
  const grant = await unit.read(grantKey(sub, grantId))
  const ends =
    grant === undefined ? 0 : Number((JSON.parse(grant) as { expiresAt?: number }).expiresAt) * 1000
  if (entry.expiresAt >= ends) return
  const value = await unit.read(key)
  if (value === undefined) return
  const stored = JSON.parse(value) as Stored
  const tokens = await fromText(keys, key, stored)
  const kept = tokens === undefined ? stored : { ...stored, sealed: await keys.seal(key, tokens) }
  unit.put(key, JSON.stringify(kept), ends + (ends - Date.now()))
}

/**
 * The provider's access token of a connection, refreshed if it is about to expire.
 *
 * @throws UpstreamSignInError if the provider refuses to refresh it, the person may no longer sign in, or it was never stored; UpstreamUnavailableError if it does not answer.
 */
export async function upstreamTokenOf(own: Own, sub: string, grantId: string): Promise<string> {
  const key = upstreamKey(sub, grantId)
  const waitUntil = Date.now() + 2 * LEASE_MS
  while (Date.now() < waitUntil) {
    const entry = await own.store.read(key)
    const stored = entry && (JSON.parse(entry.value) as Stored)
    const tokens = stored && (await fromText(own.keys, key, stored))
    if (entry === undefined || stored === undefined || tokens === undefined) throw signInAgain()
    const { accessToken, refreshToken, expiresAt } = tokens
    if (expiresAt === undefined || expiresAt > Date.now() + MARGIN_MS) return accessToken
    if (refreshToken === undefined || own.upstream.refresh === undefined) {
      if (expiresAt > Date.now()) return accessToken
      await end(own, sub, grantId)
      throw signInAgain()
    }
    const lease = { id: crypto.randomUUID(), until: Date.now() + LEASE_MS }
    const isFree = stored.lease === undefined || stored.lease.until < Date.now()
    if (isFree && (await write(own, key, entry, { ...stored, lease })))
      return renew(own, sub, grantId, refreshToken, tokens, lease.id)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new UpstreamUnavailableError(`${own.upstream.name}'s token is not refreshed in time: try again.`)
}

async function renew(
  own: Own,
  sub: string,
  grantId: string,
  refreshToken: string,
  before: PersonTokens,
  lease: string,
): Promise<string> {
  const key = upstreamKey(sub, grantId)
  let fresh: UpstreamTokens & Partial<PersonTokens>
  try {
    fresh = await withTimeout(
      own.upstream.refresh!({ env: own.env, refreshToken }),
      UPSTREAM_TIMEOUT_MS,
      own.upstream.name,
    )
  } catch (error) {
    if (isA(error, UpstreamRefusedError)) {
      await end(own, sub, grantId)
      throw signInAgain(error)
    }
    await saved(own, key, lease, ({ sealed }) => ({ sealed }))
    throw error
  }
  const { issuer = before.issuer, subject = before.subject } = fresh
  if (issuer !== before.issuer || subject !== before.subject) {
    await end(own, sub, grantId)
    const reason = 'The refreshed tokens are another person’s (OpenID Connect Core §12.2).'
    throw signInAgain(new UpstreamFault('id_token_invalid', reason))
  }
  const { expiresAt: _ended, ...kept } = before
  const tokens = { ...kept, ...fresh, refreshToken: fresh.refreshToken ?? refreshToken }
  const text = await toText(own.keys, key, tokens)
  await saved(own, key, lease, () => JSON.parse(text) as Stored)
  return fresh.accessToken
}

/** Writes while the lease is held, although others may have made the entry last longer meanwhile. */
async function saved(own: Own, key: string, lease: string, next: (stored: Stored) => Stored): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const entry = await own.store.read(key)
    if (entry === undefined) return
    const stored = JSON.parse(entry.value) as Stored
    if (stored.lease?.id !== lease || (await write(own, key, entry, next(stored)))) return
  }
  throw new SignInBusyError('Other requests changed the same entry.')
}

function write({ store }: Own, key: string, entry: GrantEntry, stored: Stored): Promise<boolean> {
  const { version, expiresAt } = entry
  return commit(store, [{ key, value: JSON.stringify(stored), expiresAt, ifVersion: version }])
}

async function end({ store }: Own, sub: string, grantId: string): Promise<void> {
  await commit(store, [{ key: grantKey(sub, grantId) }, { key: upstreamKey(sub, grantId) }])
}

function signInAgain(cause?: unknown): UpstreamSignInError {
  return new UpstreamSignInError('Sign in again: the connection to the identity provider has ended.', {
    cause,
  })
}

async function toText(keys: SignInKeys, key: string, tokens: PersonTokens): Promise<string> {
  const stored: Stored = { sealed: await keys.seal(key, tokens) }
  return JSON.stringify(stored)
}

async function fromText(
  keys: SignInKeys,
  key: string,
  { sealed }: Stored,
): Promise<PersonTokens | undefined> {
  const opened = await keys.open(key, sealed)
  return isObject(opened) ? (opened as unknown as PersonTokens) : undefined
}
