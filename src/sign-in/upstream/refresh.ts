/**
 * Refreshes the provider's token of a connection, in one process at a time, since many providers accept a refresh token once. What a process
 * does not know of another's refresh is unknown, not no: it waits for the other's lease, by its own clock and never by the other's, and ends
 * a connection only for a refusal of the token that is stored, while it has the lease.
 */
import { isA } from '../../definition/error-text.ts'
import { pause } from '../../definition/pause.ts'
import { TimeoutError, withTimeout } from '../../definition/timeout.ts'
import { grantKey, upstreamKey } from '../tokens/grants.ts'
import {
  type Call,
  end,
  endRefused,
  notInTime,
  type Own,
  read,
  release,
  save,
  signInAgain,
  UpstreamSignInError,
} from './connection.ts'
import { rotatedIn } from './errors.ts'
import { REFRESH_TIMEOUT_MS } from './fetch.ts'
import { createSeen, keepAlive, write } from './lease.ts'
import {
  clockOffset,
  isFresh,
  isOfAnother,
  type PersonTokens,
  type StoredTokens,
  toRefreshed,
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
/** For the write of the lease: with more, another process might take it before the first beat. */
const MAX_LEASE_WRITE_MS = 3000
/** For an answer of the provider, its check included. Others wait for as long. */
const MAX_ASKING_MS = REFRESH_TIMEOUT_MS + 5000
const POLL_MS = 200
/** A token that expires earlier is not worth a try, if there is no newer one. */
const MIN_USE_MS = 2000

/**
 * The provider's access token of a connection, refreshed if it is about to expire. Settles within 30 seconds.
 *
 * @throws UpstreamSignInError if the provider refuses to refresh it, the person may no longer sign in, or it was never stored;
 * UpstreamUnavailableError if the provider does not answer and the token has expired.
 */
export async function upstreamTokenOf(own: Own, sub: string, grantId: string): Promise<string> {
  const { env, store, keys, upstream, report, waitUntil } = own
  const call: Call = {
    ...{ env, store, keys, upstream, report, waitUntil },
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
  const seen = createSeen()
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
    if (stored.lease === undefined || !seen.isAlive(stored.lease)) {
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

/**
 * Undefined: look again. `lease` is this call's, since `heldSince` at the earliest. The call may end before the provider answers: its
 * answer is still stored, as long as the platform lets the process work.
 */
async function renew(
  call: Call,
  before: StoredTokens & { readonly refreshToken: string },
  lease: string,
  heldSince: number,
): Promise<string | undefined> {
  const { upstream, usable } = call
  if (performance.now() - heldSince > MAX_LEASE_WRITE_MS) {
    await release(call, lease)
    throw notInTime(call, new Error('The store of grants is slow.'))
  }
  const asking = ask(call, before, lease)
  // Also for a client that leaves.
  call.waitUntil(asking.catch(() => {}))
  const leftMs = call.endsAt - performance.now()
  const isUsable = usable !== undefined && usable.until > Date.now()
  return withTimeout(asking, isUsable ? Math.min(UPSTREAM_TIMEOUT_MS, leftMs) : leftMs, upstream.name)
}

async function ask(
  call: Call,
  before: StoredTokens & { readonly refreshToken: string },
  lease: string,
): Promise<string | undefined> {
  const { env, upstream } = call
  const used = before.refreshToken
  const rest = keepAlive(call, lease)
  let asked: ReturnType<NonNullable<Upstream['refresh']>> | undefined
  try {
    asked = upstream.refresh!({ env, refreshToken: used })
    const fresh = await withTimeout(asked, MAX_ASKING_MS, upstream.name).finally(rest)
    return await keep(call, before, lease, fresh)
  } catch (error) {
    rest()
    if (isA(error, UpstreamSignInError)) throw error
    if (isA(error, UpstreamRefusedError)) {
      if (await endRefused(call, used, lease)) throw signInAgain(error)
      return undefined
    }
    const rotated = rotatedIn(error)
    if (rotated !== undefined)
      await save(call, used, lease, withoutAccess({ ...before, refreshToken: rotated })).catch(call.report)
    // It may still answer, with the tokens that count from then on.
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
