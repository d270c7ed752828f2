/**
 * Refreshes a sign-in once for all its callers: an authorization server that rotates refresh tokens takes a second use of one for theft, and
 * ends the sign-in (RFC 9700 §4.14.2).
 */
import type {
  FetchLike,
  OAuthClientInformationContext,
  OAuthClientProvider,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import type { FetchLimits } from './guarded-fetch.ts'
import { sleep } from './retries.ts'
import { type RefreshClaim, refreshClaims } from './sign-in-provider.ts'

/** Milliseconds to wait for another process that refreshes, which may have ended. */
const MAX_CLAIM_WAIT_MS = 10_000
const POLL_MS = 50
/** Maximum tokens to remember. */
const MAX_TOKENS = 32

/** When each refresh counts as abandoned. Not promises: on some platforms, those of ended requests never settle. */
type Busy = Map<string, number>

/** Refreshes in this process, by the storage or the user's own provider. */
const busyBy = new WeakMap<object, Busy>()

export interface SharedRefresh {
  readonly fetch: FetchLike
  readonly provider: OAuthClientProvider
}

/** Wraps both parts that the official client refreshes with. `own` is the user's `authProvider`. */
export function shareRefreshes(
  provider: OAuthClientProvider,
  own: object,
  ask: FetchLike,
  limits: FetchLimits,
): SharedRefresh {
  const refresher = new Refresher(provider, own, ask, limits)
  const guarded: Partial<OAuthClientProvider> = {
    tokens: (context) => refresher.tokens(context),
    saveTokens: (tokens, context) => refresher.save(tokens, context),
    invalidateCredentials: (scope) => refresher.forget(scope),
  }
  return {
    fetch: (url, init) => refresher.send(url, init),
    provider: new Proxy(provider, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (member !== undefined && Object.hasOwn(guarded, name)) return Reflect.get(guarded, name)
        return member
      },
    }),
  }
}

class Refresher {
  readonly #provider: OAuthClientProvider
  readonly #ask: FetchLike
  readonly #limits: FetchLimits
  readonly #claim: RefreshClaim
  readonly #busy: Busy
  /** Access tokens that the server refused, and refresh tokens that the authorization server refused. */
  readonly #refused = new Set<string>()
  /** Tokens that were found in the storage, and are not saved again. */
  readonly #found = new Set<string>()
  /** By refresh token. */
  readonly #contexts = new Map<string, OAuthClientInformationContext>()
  /** By access token: the refresh that is over when this one is saved. */
  readonly #unsaved = new Map<string, string>()

  constructor(provider: OAuthClientProvider, own: object, ask: FetchLike, limits: FetchLimits) {
    this.#provider = provider
    this.#claim = claimOf(provider, own)
    const { owner } = this.#claim
    this.#busy = busyBy.get(owner) ?? new Map()
    busyBy.set(owner, this.#busy)
    this.#ask = ask
    this.#limits = limits
  }

  async tokens(context: OAuthClientInformationContext | undefined): Promise<StoredOAuthTokens | undefined> {
    const tokens = await this.#provider.tokens(context)
    if (context !== undefined && tokens?.refresh_token !== undefined) {
      this.#contexts.set(tokens.refresh_token, context)
      trim(this.#contexts)
    }
    return tokens
  }

  async save(tokens: StoredOAuthTokens, context: OAuthClientInformationContext | undefined): Promise<void> {
    if (this.#found.has(pairOf(tokens))) return
    try {
      await this.#provider.saveTokens(tokens, context)
    } finally {
      const key = this.#unsaved.get(tokens.access_token)
      this.#unsaved.delete(tokens.access_token)
      if (key !== undefined) this.#busy.delete(key)
    }
  }

  /** Tokens that others have saved since are kept: only what was refused is forgotten. */
  async forget(
    scope: Parameters<NonNullable<OAuthClientProvider['invalidateCredentials']>>[0],
  ): Promise<void> {
    if (scope === 'tokens') {
      const stored = await this.#provider.tokens()
      if (stored !== undefined && !this.#refused.has(stored.refresh_token ?? '')) return
    }
    await this.#provider.invalidateCredentials?.(scope)
  }

  async send(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    const spent = refreshTokenIn(init)
    if (spent !== undefined) return this.#refresh(url, init, spent)
    const response = await this.#ask(url, init)
    if (response.status === 401 || response.status === 403) this.#refuse(accessTokenIn(init))
    return response
  }

  #refuse(token: string | undefined): void {
    if (token === undefined) return
    this.#refused.add(token)
    trim(this.#refused)
  }

  /** Waits for others that refresh with the same token, and returns what they got. */
  async #refresh(url: string | URL, init: RequestInit | undefined, spent: string): Promise<Response> {
    const { timeoutMs, ended } = this.#limits
    const key = `${url}\n${spent}`
    const claimWaitMs = Math.min(MAX_CLAIM_WAIT_MS, timeoutMs / 2)
    for (let waitedMs = 0; ; ) {
      if (Date.now() >= (this.#busy.get(key) ?? 0)) {
        const isLast = waitedMs >= claimWaitMs
        const response = await this.#attempt(key, spent, isLast, () => this.#ask(url, init))
        if (response !== undefined) return response
        waitedMs += POLL_MS
      }
      await sleep(POLL_MS, ended)
    }
  }

  /** Undefined if another process refreshes, unless this is the last attempt. */
  async #attempt(
    key: string,
    spent: string,
    isLast: boolean,
    ask: () => Promise<Response>,
  ): Promise<Response | undefined> {
    begin(this.#busy, key, this.#limits.timeoutMs)
    const claim = this.#claim
    let isNew = false
    let isClaimed = false
    try {
      isClaimed = isLast || (await claim.take())
      // Read only now: the previous refresh has been saved.
      const known = await this.#renewed(spent)
      if (known !== undefined || !isClaimed) return known
      const response = await ask()
      const token = await issuedIn(response)
      isNew = token !== undefined
      if (token === undefined) {
        this.#refuse(spent)
        // By a process whose storage cannot tell that it claimed the refresh.
        return (await this.#renewed(spent)) ?? response
      }
      this.#unsaved.set(token, key)
      trim(this.#unsaved)
      return response
    } finally {
      // Otherwise `save` ends it.
      if (!isNew) this.#busy.delete(key)
      if (!isNew && isClaimed) await claim.giveBack()
    }
  }

  /** The stored tokens, if others have saved them since the server refused the previous ones. */
  async #renewed(spent: string): Promise<Response | undefined> {
    const stored = await this.#provider.tokens(this.#contexts.get(spent))
    if (stored === undefined || this.#refused.has(stored.access_token)) return undefined
    this.#found.add(pairOf(stored))
    trim(this.#found)
    return Response.json(stored)
  }
}

/** A provider of the user's own has nothing that other processes see. */
function claimOf(provider: OAuthClientProvider, own: object): RefreshClaim {
  return refreshClaims.get(provider) ?? { owner: own, take: async () => true, giveBack: async () => {} }
}

function begin(busy: Busy, key: string, timeoutMs: number): void {
  const now = Date.now()
  for (const [other, until] of busy) if (until <= now) busy.delete(other)
  busy.set(key, now + timeoutMs)
}

function refreshTokenIn({ method, body }: RequestInit = {}): string | undefined {
  if (method !== 'POST' || !isA(body, URLSearchParams)) return undefined
  return body.get('grant_type') === 'refresh_token' ? (body.get('refresh_token') ?? undefined) : undefined
}

const accessTokenIn = (init: RequestInit | undefined): string | undefined =>
  new Headers(init?.headers).get('authorization')?.replace(/^\S+ +/, '')

/** The access token of a response, which has been read. */
async function issuedIn(response: Response): Promise<string | undefined> {
  if (!response.ok) return undefined
  const issued: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const token = isObject(issued) ? issued.access_token : undefined
  return typeof token === 'string' ? token : undefined
}

const pairOf = ({ access_token, refresh_token }: StoredOAuthTokens): string =>
  `${access_token}\n${refresh_token}`

function trim(kept: Set<string> | Map<string, unknown>): void {
  const [oldest] = kept.keys()
  if (kept.size > MAX_TOKENS && oldest !== undefined) kept.delete(oldest)
}
