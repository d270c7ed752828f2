/**
 * Refreshes the provider's token of a connection, in one process at a time, since many providers accept a refresh token once. What a process
 * does not know of another's refresh is unknown, not no: it waits for the other's lease, by its own clock and never by the other's, and ends
 * a connection only for a refusal of the token that is stored, while it has the lease.
 */
import { isA } from '../../definition/error-text.ts'
import { TimeoutError, withTimeout } from '../../definition/timeout.ts'
import type { Signing } from '../signing.ts'
import type { GrantEntry } from '../store/store.ts'
import { grantKey, upstreamKey } from '../tokens/grants.ts'
import { commit, pause, SignInBusyError } from '../unit.ts'
import { rotatedIn } from './errors.ts'
import {
  clockOffset,
  fromText,
  isFresh,
  isOfAnother,
  type PersonTokens,
  type Stored,
  type StoredTokens,
  toRefreshed,
  toTextThatFits,
  UPSTREAM_TIMEOUT_MS,
  withoutAccess,
} from './tokens.ts'
import {
  type Upstream,
  UpstreamFault,
  UpstreamRefusedError,
  type UpstreamTokens,
  UpstreamUnavailableError,
} from './upstream.ts'

/** For all of it, below the 30 seconds that are documented. */
const CALL_MS = 29_000
/**
 * A process that refreshes is taken for dead if another has seen its lease for so long. Its own time runs from before the lease was written:
 * the write, and the longest answer of the provider, must fit.
 */
const LEASE_MS = 16_000
/** For the write of the lease: with more, the provider's answer might come after the lease. */
const MAX_LEASE_WRITE_MS = LEASE_MS - UPSTREAM_TIMEOUT_MS - 1000
const POLL_MS = 200
/** Pauses between attempts to write what the provider has answered. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000
/** A token that expires earlier is not worth a try, if there is no newer one. */
const MIN_USE_MS = 2000
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

type Own = Pick<Signing, 'env' | 'store' | 'keys' | 'upstream' | 'report'>

interface Call extends Own {
  readonly key: string
  readonly grant: string
  /** By `performance.now()`, as all times of this file that are not of tokens. */
  readonly endsAt: number
  /** By which the clock of the store is ahead. */
  readonly offsetMs: number
  /** What is returned if no newer token can be had: until then, by the clock of this machine. */
  usable?: { readonly token: string; readonly until: number } | undefined
}

interface Found {
  readonly entry: GrantEntry
  readonly stored: Stored
  readonly tokens: StoredTokens | undefined
}

/**
 * The provider's access token of a connection, refreshed if it is about to expire. Settles within 30 seconds.
 *
 * @throws UpstreamSignInError if the provider refuses to refresh it, the person may no longer sign in, or it was never stored;
 * UpstreamUnavailableError if the provider does not answer and the token has expired.
 */
export async function upstreamTokenOf(own: Own, sub: string, grantId: string): Promise<string> {
  const { env, store, keys, upstream, report } = own
  const call: Call = {
    ...{ env, store, keys, upstream, report },
    key: upstreamKey(sub, grantId),
    grant: grantKey(sub, grantId),
    endsAt: performance.now() + CALL_MS,
    offsetMs: await clockOffset(store),
  }
  try {
    return await withTimeout(tokenOf(call), call.endsAt - performance.now(), upstream.name)
  } catch (error) {
    if (isA(error, UpstreamSignInError)) throw error
    const { usable } = call
    if (usable !== undefined && usable.until > Date.now()) return usable.token
    throw isA(error, TimeoutError) ? notInTime(call, error) : error
  }
}

async function tokenOf(call: Call): Promise<string> {
  const { upstream, offsetMs } = call
  /** Leases of others, and when each was first seen. */
  const seen = new Map<string, number>()
  /** Its own, with the time before each was written: a write whose answer was lost may have been made. */
  const own = new Map<string, number>()
  let before: string | undefined
  let refusedWrites = 0
  while (performance.now() < call.endsAt) {
    const found = await read(call)
    if (found?.tokens === undefined || isOfAnother(call, found.tokens)) {
      if (await end(call, found?.entry)) throw signInAgain()
      continue
    }
    const { entry, stored, tokens } = found
    const { accessToken, refreshToken, expiresAt = Number.POSITIVE_INFINITY } = tokens
    const now = Date.now() + offsetMs
    // What another process has got since this call began is as new as can be, however short it lives.
    const isNew = before !== undefined && accessToken !== before
    before ??= accessToken
    if (isFresh(tokens, now) || (isNew && accessToken !== '')) return accessToken
    if (accessToken !== '') call.usable = { token: accessToken, until: expiresAt - offsetMs - MIN_USE_MS }
    if (refreshToken === undefined || upstream.refresh === undefined) {
      if (accessToken !== '' && expiresAt > now) return accessToken
      if (await end(call, entry)) throw signInAgain()
      continue
    }
    const lease = stored.lease?.id
    const heldSince = lease === undefined ? undefined : own.get(lease)
    if (lease !== undefined && heldSince !== undefined) {
      const token = await renew(call, { ...tokens, refreshToken }, lease, heldSince)
      if (token !== undefined) return token
      own.delete(lease)
      continue
    }
    if (lease !== undefined && !seen.has(lease)) seen.set(lease, performance.now())
    if (lease === undefined || performance.now() - seen.get(lease)! >= LEASE_MS) {
      const id = crypto.randomUUID()
      own.set(id, performance.now())
      try {
        await write(call, entry, { ...stored, lease: { id } })
        continue
      } catch (error) {
        // A store that refuses all writes is down.
        if (++refusedWrites > 1) throw error
      }
    }
    await pause(POLL_MS)
  }
  throw notInTime(call)
}

/** Undefined: look again. `lease` is this call's, since `heldSince` at the earliest. */
async function renew(
  call: Call,
  before: StoredTokens & { readonly refreshToken: string },
  lease: string,
  heldSince: number,
): Promise<string | undefined> {
  const { env, upstream } = call
  const used = before.refreshToken
  if (performance.now() - heldSince > MAX_LEASE_WRITE_MS) {
    await release(call, lease)
    throw notInTime(call, new Error('The store of grants is slow.'))
  }
  let asked: ReturnType<NonNullable<Upstream['refresh']>> | undefined
  try {
    asked = upstream.refresh!({ env, refreshToken: used })
    return await keep(call, before, lease, await withTimeout(asked, UPSTREAM_TIMEOUT_MS, upstream.name))
  } catch (error) {
    if (isA(error, UpstreamSignInError)) throw error
    if (isA(error, UpstreamRefusedError)) {
      if (await endRefused(call, used, lease)) throw signInAgain(error)
      return undefined
    }
    const rotated = rotatedIn(error)
    if (rotated !== undefined)
      await save(call, used, lease, withoutAccess({ ...before, refreshToken: rotated })).catch(call.report)
    // It may answer yet, with the tokens that count from then on. Until then, the lease tells others to wait.
    else if (isA(error, TimeoutError)) asked?.then((late) => keep(call, before, lease, late)).catch(() => {})
    else await release(call, lease)
    throw isA(error, UpstreamUnavailableError) ? error : notInTime(call, error)
  }
}

/** Stores what the provider has answered: the token before may not be accepted again. */
async function keep(
  call: Call,
  before: StoredTokens & { readonly refreshToken: string },
  lease: string,
  fresh: UpstreamTokens & Partial<PersonTokens>,
): Promise<string | undefined> {
  const used = before.refreshToken
  const { issuer = before.issuer, subject = before.subject } = fresh
  if (issuer !== before.issuer || subject !== before.subject) {
    const reason = 'The refreshed tokens are another person’s (OpenID Connect Core §12.2).'
    if (await endRefused(call, used, lease)) throw signInAgain(new UpstreamFault('id_token_invalid', reason))
    return undefined
  }
  const { expiresAt: _end, renewAt: _renew, ...kept } = before
  const refreshToken = fresh.refreshToken || used
  const tokens = toRefreshed({ ...kept, ...fresh, issuer, subject, refreshToken }, call.offsetMs)
  call.usable = { token: fresh.accessToken, until: Number.POSITIVE_INFINITY }
  try {
    if (!(await save(call, used, lease, tokens))) throw signInAgain()
  } catch (error) {
    if (isA(error, UpstreamSignInError)) throw error
    // The tool has its token. The refresh token before is asked with the next time, which some providers accept.
    call.report(error)
  }
  return fresh.accessToken
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
async function save(call: Call, used: string, lease: string, tokens: StoredTokens): Promise<boolean> {
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
async function release(call: Call, lease: string): Promise<void> {
  try {
    const found = await read(call)
    if (found?.stored.lease?.id === lease) await write(call, found.entry, { sealed: found.stored.sealed })
  } catch {}
}

/** False: another process has newer tokens, or the lease. Without an answer of the store, the refusal still counts. */
async function endRefused(call: Call, used: string, lease: string): Promise<boolean> {
  const attempt = async (): Promise<boolean | undefined> => {
    const found = await read(call)
    if (found === undefined) return true
    if (found.stored.lease?.id !== lease || found.tokens?.refreshToken !== used) return false
    return (await end(call, found.entry)) || undefined
  }
  return (await persistently(call, attempt).catch(() => true)) ?? true
}

async function read({ store, keys, key }: Call): Promise<Found | undefined> {
  const entry = await store.read(key)
  if (entry === undefined) return undefined
  const stored = JSON.parse(entry.value) as Stored
  return { entry, stored, tokens: await fromText(keys, key, stored) }
}

function write({ store, key }: Call, entry: GrantEntry, stored: Stored): Promise<boolean> {
  const { version, expiresAt } = entry
  return commit(store, [{ key, value: JSON.stringify(stored), expiresAt, ifVersion: version }])
}

/** Ends the connection unless the entry has changed since it was read. So the client is told to sign in again. */
function end({ store, key, grant }: Call, entry: GrantEntry | undefined): Promise<boolean> {
  const tokens = entry === undefined ? { isCheck: true, ifVersion: null } : { ifVersion: entry.version }
  return commit(store, [{ key: grant }, { key, ...tokens }])
}

function signInAgain(cause?: unknown): UpstreamSignInError {
  return new UpstreamSignInError('Sign in again: the connection to the identity provider has ended.', {
    cause,
  })
}

function notInTime({ upstream }: Call, cause?: unknown): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`${upstream.name}'s token is not refreshed in time: try again.`, {
    cause,
  })
}
