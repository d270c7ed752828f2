/**
 * The provider's tokens of a connection as they are stored: sealed, with the times of the store's clock, which all processes share.
 */
import { isObject } from '../../definition/is-object.ts'
import { MAX_VALUE_BYTES } from '../../keyed/store.ts'
import type { SignInKeys } from '../keys.ts'
import type { Signing } from '../signing.ts'
import type { GrantStore } from '../store/store.ts'
import { grantKey, upstreamKey } from '../tokens/grants.ts'
import type { Unit } from '../unit.ts'
import type { UpstreamIdentity, UpstreamTokens } from './upstream.ts'

/** A token is renewed before it expires by so much; one that lasts less than twice as long, after half of its life. */
const MARGIN_MS = 60_000
/** What expires earlier is of no use to a tool. */
const MIN_MARGIN_MS = 5000
/** The time of a code: without the tokens of the connection, those of the provider are not kept. */
const CODE_MS = 600_000
/** Milliseconds for one answer of the provider, where a person waits or an older token can be used. */
export const UPSTREAM_TIMEOUT_MS = 12_000

/** The tokens, and whose they are. */
export type PersonTokens = UpstreamTokens &
  Pick<UpstreamIdentity, 'issuer' | 'subject'> & {
    /** `providerOf` when they were issued: no other one may get them (RFC 9700 §4.4). */
    readonly provider: string | undefined
  }

/** Which provider is in use, as flows and tokens remember it. Undefined: it is not set up. */
export function providerOf({ upstream, env }: Pick<Signing, 'env' | 'upstream'>): string | undefined {
  try {
    return `${upstream.id} ${upstream.metadataUrl?.(env) ?? ''}`
  } catch {
    return undefined
  }
}

/** Whether somebody signed in with another provider than the one in use. While that is not set up, nobody did. */
export function isOfAnother(
  own: Pick<Signing, 'env' | 'upstream'>,
  { provider }: { readonly provider?: string | undefined },
): boolean {
  const current = providerOf(own)
  return current !== undefined && provider !== current
}

/** `expiresAt` is by the clock of the store. */
export type StoredTokens = PersonTokens & {
  /** When a refreshed token is to be renewed, by the same clock. Default: a minute before it expires. */
  readonly renewAt?: number | undefined
}

export interface Stored {
  /** Of `StoredTokens`. */
  readonly sealed: string
  readonly lease?: Lease | undefined
}

/** Of the process that refreshes them. */
export interface Lease {
  /** Random. */
  readonly id: string
  /** Counts up while it waits for the provider. */
  readonly beat?: number | undefined
}

/** Milliseconds by which the store's clock is ahead of this machine's. */
export async function clockOffset({ clockOffsetMs }: GrantStore): Promise<number> {
  return (await clockOffsetMs?.()) ?? 0
}

/** From the clock of this machine. */
export function toStoreTime(tokens: PersonTokens, offsetMs: number): StoredTokens {
  const { expiresAt, ...rest } = tokens
  // Such as that of a token that lasts for 1e308 seconds.
  return Number.isFinite(expiresAt) ? { ...rest, expiresAt: expiresAt! + offsetMs } : rest
}

/** The same for tokens that the provider has just issued: short ones are not refreshed for each call. */
export function toRefreshed(tokens: PersonTokens, offsetMs: number): StoredTokens {
  const stored = toStoreTime(tokens, offsetMs)
  if (stored.expiresAt === undefined) return stored
  const share = (stored.expiresAt - offsetMs - Date.now()) / 2
  return { ...stored, renewAt: stored.expiresAt - Math.min(MARGIN_MS, Math.max(share, MIN_MARGIN_MS)) }
}

/** `now` is by the clock of the store. */
export function isFresh({ accessToken, expiresAt, renewAt }: StoredTokens, now: number): boolean {
  const ends = renewAt ?? (expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt - MARGIN_MS)
  return accessToken !== '' && ends > now
}

export async function storeUpstreamTokens(
  { keys }: Signing,
  unit: Unit,
  sub: string,
  grantId: string,
  tokens: StoredTokens,
): Promise<void> {
  const key = upstreamKey(sub, grantId)
  unit.put(key, await toText(keys, key, tokens), Date.now() + CODE_MS)
}

/**
 * They last as long as the connection: about twice, so that few refreshes of it write them. These seal them again: tokens that the provider
 * does not renew would otherwise need an old secret for as long as the connection is used.
 *
 * @returns False for a person of another provider than the one in use, who has to sign in again.
 */
export async function keepUpstreamTokens(
  own: Pick<Signing, 'env' | 'keys' | 'upstream'>,
  unit: Unit,
  sub: string,
  grantId: string,
): Promise<boolean> {
  const { keys } = own
  const key = upstreamKey(sub, grantId)
  const entry = await unit.peek(key)
  if (entry?.expiresAt === undefined) return true
  const known = await fromText(keys, key, JSON.parse(entry.value) as Stored)
  if (known !== undefined && isOfAnother(own, known)) return false
  const grant = await unit.read(grantKey(sub, grantId))
  const ends =
    grant === undefined ? 0 : Number((JSON.parse(grant) as { expiresAt?: number }).expiresAt) * 1000
  if (entry.expiresAt >= ends) return true
  const value = await unit.read(key)
  if (value === undefined) return true
  const stored = JSON.parse(value) as Stored
  const tokens = await fromText(keys, key, stored)
  const kept = tokens === undefined ? stored : { ...stored, sealed: await keys.seal(key, tokens) }
  unit.put(key, JSON.stringify(kept), ends + (ends - Date.now()))
  return true
}

export async function toText(keys: SignInKeys, key: string, tokens: StoredTokens): Promise<string> {
  const stored: Stored = { sealed: await keys.seal(key, tokens) }
  return JSON.stringify(stored)
}

/** Without an access token that is too long to be stored, which the provider is then asked for each time. */
export async function toTextThatFits(keys: SignInKeys, key: string, tokens: StoredTokens): Promise<string> {
  const text = await toText(keys, key, tokens)
  return text.length <= MAX_VALUE_BYTES ? text : toText(keys, key, withoutAccess(tokens))
}

/** What is to be renewed at once. */
export function withoutAccess(tokens: StoredTokens): StoredTokens {
  const { expiresAt: _end, ...rest } = tokens
  return { ...rest, accessToken: '', renewAt: 0 }
}

/** Undefined: they were sealed with a secret that this deployment no longer has. */
export async function fromText(
  keys: SignInKeys,
  key: string,
  { sealed }: Stored,
): Promise<StoredTokens | undefined> {
  const opened = await keys.open(key, sealed)
  return isObject(opened) ? (opened as unknown as StoredTokens) : undefined
}
