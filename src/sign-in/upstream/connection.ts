/** The provider's tokens of one connection in the store, as one call reads, replaces and ends them. */
import { pause } from '../../definition/pause.ts'
import type { Signing } from '../signing.ts'
import type { GrantEntry } from '../store/store.ts'
import { commit, SignInBusyError } from '../unit.ts'
import { write } from './lease.ts'
import { fromText, type Stored, type StoredTokens, toTextThatFits } from './tokens.ts'
import { UpstreamUnavailableError } from './upstream.ts'

/** Pauses between attempts to write what the provider has answered. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000
/** For an answer that came after the call. */
const LATE_MS = 10_000

/**
 * The provider ended the session, or the person may no longer sign in, so the connection is ended, too: the app will ask to sign in again. `code` is `upstream_sign_in_needed`;
 * the `cause` is what the provider answered, if it was asked.
 */
export class UpstreamSignInError extends Error {
  override readonly name = 'UpstreamSignInError'
  readonly code = 'upstream_sign_in_needed'
}

export type Own = Pick<Signing, 'env' | 'store' | 'keys' | 'upstream' | 'report' | 'waitUntil'>

export interface Call extends Own {
  readonly key: string
  readonly grant: string
  /** By `performance.now()`, as all times of this file that are not of tokens. */
  readonly endsAt: number
  /** By which the clock of the store is ahead. */
  readonly offsetMs: number
  /** What is returned if no newer token can be had: until then, by the clock of this machine. */
  usable?: { readonly token: string; readonly until: number } | undefined
}

export interface Found {
  readonly entry: GrantEntry
  readonly stored: Stored
  readonly tokens: StoredTokens | undefined
}

/** Repeats it, with pauses, until the time of the call is over. */
async function persistently<Result>(
  call: Call,
  attempt: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  // An answer that came late has some time, too.
  const until = Math.max(call.endsAt, performance.now() + LATE_MS)
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      const result = await attempt()
      if (result !== undefined || performance.now() >= until) return result
    } catch (error) {
      if (performance.now() >= until) throw error
    }
    await pause(pauseMs)
  }
}

/** False: the connection has ended meanwhile. What another process has got by the same token is left. */
export async function save(call: Call, used: string, lease: string, tokens: StoredTokens): Promise<boolean> {
  const { keys, key } = call
  const next = JSON.parse(await toTextThatFits(keys, key, tokens)) as Stored
  const isSaved = await persistently(call, async () => {
    const found = await read(call)
    if (found === undefined) return false
    const isCurrent = found.stored.lease?.id === lease || found.tokens?.refreshToken === used
    return !isCurrent || (await write(call, found.entry, next)) || undefined
  })
  if (isSaved === undefined) throw new SignInBusyError('Other requests changed the same entry.')
  return isSaved
}

/** A lease that cannot be given back ends by itself. */
export async function release(call: Call, lease: string): Promise<void> {
  try {
    const found = await read(call)
    if (found?.stored.lease?.id === lease) await write(call, found.entry, { sealed: found.stored.sealed })
  } catch {}
}

/** False: another process has newer tokens, or the lease. Without an answer of the store, the refusal still counts. */
export async function endRefused(call: Call, used: string, lease: string): Promise<boolean> {
  const attempt = async (): Promise<boolean | undefined> => {
    const found = await read(call)
    if (found === undefined) return true
    if (found.stored.lease?.id !== lease || found.tokens?.refreshToken !== used) return false
    return (await end(call, found.entry)) || undefined
  }
  return (await persistently(call, attempt).catch(() => true)) ?? true
}

export async function read({ store, keys, key }: Call): Promise<Found | undefined> {
  const entry = await store.read(key)
  if (entry === undefined) return undefined
  const stored = JSON.parse(entry.value) as Stored
  return { entry, stored, tokens: await fromText(keys, key, stored) }
}

/** Ends the connection unless the entry has changed since it was read. So the client is told to sign in again. */
export function end({ store, key, grant }: Call, entry: GrantEntry | undefined): Promise<boolean> {
  const tokens = entry === undefined ? { isCheck: true, ifVersion: null } : { ifVersion: entry.version }
  return commit(store, [{ key: grant }, { key, ...tokens }])
}

export function signInAgain(cause?: unknown): UpstreamSignInError {
  return new UpstreamSignInError('Sign in again: the connection to the identity provider has ended.', {
    cause,
  })
}

export function notInTime({ upstream }: Call, cause?: unknown): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`${upstream.name}'s token is not refreshed in time: try again.`, {
    cause,
  })
}
