/** Sign-ins of a server's users that are under way: each is begun, waits for its redirect, and is finished once. */
import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { SignInRefused } from './errors.ts'
import { digest, type Keep } from './oauth-storage.ts'
import { requireVisitable } from './safe-provider.ts'

export interface SignIn {
  readonly state: string
  /** RFC 7636 §4.1. */
  readonly verifier: string
  readonly discovery: OAuthDiscoveryState | undefined
  /** The registration it was begun with: another process may have made another one since. */
  readonly client: StoredOAuthClientInformation | undefined
  /** Where the user signs in. */
  readonly url: string
  readonly begunAt: number
}

/** Of one that is under way, where all of them are listed. */
interface Entry {
  /** The name it is kept under. */
  readonly name: string
  /** The URL without what is new in each: by it a request finds the sign-in that it needs. */
  readonly request: string
  readonly begunAt: number
}

const MAX_UNDER_WAY = 8
const LIFETIME_MS = 60 * 60 * 1000
/** Verifiers of requests that have not come to their redirect yet, and what they discovered. */
const MAX_PREPARED = 32

export class SignIns {
  readonly #keep: Keep
  readonly #onRedirect: (url: URL) => unknown
  /** By their challenge, since several may begin at once. */
  readonly #verifiers = new Map<string, string>()
  #discovered: OAuthDiscoveryState[] = []
  #registered: StoredOAuthClientInformation[] = []
  /** One is begun after the other, for each reads which there are. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(keep: Keep, onRedirect: (url: URL) => unknown) {
    this.#keep = keep
    this.#onRedirect = onRedirect
  }

  async prepare(verifier: string): Promise<void> {
    this.#verifiers.set(await digest(verifier), verifier)
    const [oldest] = this.#verifiers.keys()
    if (this.#verifiers.size > MAX_PREPARED && oldest !== undefined) this.#verifiers.delete(oldest)
  }

  discovered(state: OAuthDiscoveryState): void {
    this.#discovered = [state, ...this.#discovered].slice(0, MAX_PREPARED)
  }

  registered(client: StoredOAuthClientInformation): void {
    this.#registered = [client, ...this.#registered].slice(0, MAX_PREPARED)
  }

  /** Sends the user to `url`, or where a sign-in like it is under way already. @throws SignInRefused */
  begin(url: URL): Promise<void> {
    const begun = this.#queue.then(() => this.#begin(url))
    this.#queue = begun.catch(() => {})
    return begun
  }

  /** What was begun with this state, and is so no more. */
  async take(state: string): Promise<SignIn | undefined> {
    const name = await nameOf(state)
    // The name is a digest, and so takes no time that would tell of the state.
    const signIn = await this.#keep.take<SignIn>(name, (kept) => kept.state === state && !isOld(kept))
    if (signIn === undefined) return undefined
    await this.#list((entries) => entries.filter((entry) => entry.name !== name))
    return signIn
  }

  async #begin(url: URL): Promise<void> {
    requireVisitable(url)
    const request = requestOf(url)
    const entries = await this.#entries()
    const alike = entries.find((entry) => entry.request === request)
    const other = alike && (await this.#keep.load<SignIn>(alike.name))
    const state = url.searchParams.get('state') ?? ''
    const verifier = this.#takeVerifier(url)
    if (other === undefined) {
      if (entries.length >= MAX_UNDER_WAY) {
        throw new SignInRefused(`${MAX_UNDER_WAY} others are under way for it: finish one, or wait`)
      }
      const [name, begunAt] = [await nameOf(state), Date.now()]
      const discovery = this.#discoveryFor(url)
      const client = this.#registered.find(({ client_id }) => client_id === url.searchParams.get('client_id'))
      const signIn: SignIn = { state, verifier, discovery, client, url: url.href, begunAt }
      await this.#keep.save(name, signIn)
      await this.#list((listed) => [...listed, { name, request, begunAt }])
    }
    await this.#onRedirect(other === undefined ? url : new URL(other.url))
  }

  #takeVerifier(url: URL): string {
    const challenge = url.searchParams.get('code_challenge') ?? ''
    const verifier = this.#verifiers.get(challenge)
    this.#verifiers.delete(challenge)
    if (verifier === undefined) throw new Error('The sign-in has no code verifier.')
    return verifier
  }

  /** The latest that leads to this URL: two requests at once may have been told of different authorization servers. */
  #discoveryFor({ origin, pathname }: URL): OAuthDiscoveryState | undefined {
    return this.#discovered.find(({ authorizationServerUrl, authorizationServerMetadata }) => {
      const endpoint = authorizationServerMetadata?.authorization_endpoint ?? '/authorize'
      const known = new URL(endpoint, authorizationServerUrl)
      return known.origin === origin && known.pathname === pathname
    })
  }

  async #entries(): Promise<readonly Entry[]> {
    const entries = (await this.#keep.load<Entry[]>('signins')) ?? []
    for (const { name } of entries.filter(isOld)) await this.#keep.forget(name)
    const young = entries.filter((entry) => !isOld(entry))
    if (young.length < MAX_UNDER_WAY) return young
    // Several that change the list at the same moment leave some in it that are over.
    const kept = await Promise.all(young.map(({ name }) => this.#keep.load<SignIn>(name)))
    return young.filter((_, index) => kept[index] !== undefined)
  }

  async #list(change: (entries: readonly Entry[]) => readonly Entry[]): Promise<void> {
    const entries = change(await this.#entries())
    if (entries.length === 0) await this.#keep.forget('signins')
    else await this.#keep.save('signins', entries)
  }
}

const nameOf = async (state: string): Promise<string> => `signin:${await digest(state)}`

const isOld = ({ begunAt }: { readonly begunAt: number }): boolean => Date.now() - begunAt > LIFETIME_MS

function requestOf(url: URL): string {
  const request = new URL(url)
  for (const name of ['state', 'code_challenge']) request.searchParams.delete(name)
  return request.href
}
