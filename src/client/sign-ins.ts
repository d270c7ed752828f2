/** The pending sign-ins of a server's users: each is started, waits for its redirect, and is finished once. */

import type { OAuthDiscoveryState, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { digest } from '../definition/digest.ts'
import { SignInRefused } from './errors.ts'
import type { ProviderStore } from './oauth-storage.ts'
import { requireVisitable } from './safe-provider.ts'

export interface SignIn {
  readonly state: string
  /** RFC 7636 §4.1. */
  readonly verifier: string
  readonly discovery: OAuthDiscoveryState | undefined
  /** The registration that it was started with, since another process may have registered again. */
  readonly client: StoredOAuthClientInformation | undefined
  /** The URL where the user signs in. */
  readonly url: string
  readonly begunAt: number
}

/** An entry in the list of pending sign-ins. */
interface Entry {
  /** The key that the sign-in is stored under. */
  readonly name: string
  /** The URL without the parameters that differ each time, to find a pending sign-in for the same request. */
  readonly request: string
  readonly begunAt: number
}

const MAX_UNDER_WAY = 8
const LIFETIME_MS = 60 * 60 * 1000
/** Maximum requests before their redirect, for which the code verifier and the discovery result are kept. */
const MAX_PREPARED = 32

export class SignIns {
  readonly #store: ProviderStore
  readonly #onRedirect: (url: URL) => unknown
  /** By challenge, since several may start at the same time. */
  readonly #verifiers = new Map<string, string>()
  #discovered: OAuthDiscoveryState[] = []
  #registered: StoredOAuthClientInformation[] = []
  /** Sign-ins start one after the other, since each one reads the list of pending ones. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(store: ProviderStore, onRedirect: (url: URL) => unknown) {
    this.#store = store
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

  /** Sends the user to `url`, or to the URL of an equal pending sign-in. @throws SignInRefused */
  begin(url: URL): Promise<void> {
    const begun = this.#queue.then(() => this.#begin(url))
    this.#queue = begun.catch(() => {})
    return begun
  }

  /** Returns the pending sign-in with this state, and removes it. */
  async take(state: string): Promise<SignIn | undefined> {
    const name = await nameOf(state)
    // The key is a digest of the state, so that the time of the lookup does not reveal the state.
    const signIn = await this.#store.take<SignIn>(name, (kept) => kept.state === state && !isOld(kept))
    if (signIn === undefined) return undefined
    await this.#list((entries) => entries.filter((entry) => entry.name !== name))
    return signIn
  }

  async #begin(url: URL): Promise<void> {
    requireVisitable(url)
    const request = requestOf(url)
    const entries = await this.#entries()
    const alike = entries.find((entry) => entry.request === request)
    const other = alike && (await this.#store.load<SignIn>(alike.name))
    const state = url.searchParams.get('state') ?? ''
    const verifier = this.#takeVerifier(url)
    if (other === undefined) {
      if (entries.length >= MAX_UNDER_WAY) {
        throw new SignInRefused(`${MAX_UNDER_WAY} others are pending for it: finish one, or wait`)
      }
      const [name, begunAt] = [await nameOf(state), Date.now()]
      const discovery = this.#discoveryFor(url)
      const client = this.#registered.find(({ client_id }) => client_id === url.searchParams.get('client_id'))
      const signIn: SignIn = { state, verifier, discovery, client, url: url.href, begunAt }
      await this.#store.save(name, signIn)
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

  /** The latest discovery for this URL: two simultaneous requests may have found different authorization servers. */
  #discoveryFor({ origin, pathname }: URL): OAuthDiscoveryState | undefined {
    return this.#discovered.find(({ authorizationServerUrl, authorizationServerMetadata }) => {
      const endpoint = authorizationServerMetadata?.authorization_endpoint ?? '/authorize'
      const known = new URL(endpoint, authorizationServerUrl)
      return known.origin === origin && known.pathname === pathname
    })
  }

  async #entries(): Promise<readonly Entry[]> {
    const entries = (await this.#store.load<Entry[]>('signins')) ?? []
    for (const { name } of entries.filter(isOld)) await this.#store.forget(name)
    const young = entries.filter((entry) => !isOld(entry))
    if (young.length < MAX_UNDER_WAY) return young
    // Simultaneous changes of the list may leave finished sign-ins in it.
    const kept = await Promise.all(young.map(({ name }) => this.#store.load<SignIn>(name)))
    return young.filter((_, index) => kept[index] !== undefined)
  }

  async #list(change: (entries: readonly Entry[]) => readonly Entry[]): Promise<void> {
    const entries = change(await this.#entries())
    if (entries.length === 0) await this.#store.forget('signins')
    else await this.#store.save('signins', entries)
  }
}

const nameOf = async (state: string): Promise<string> => `signin:${await digest(state)}`

const isOld = ({ begunAt }: { readonly begunAt: number }): boolean => Date.now() - begunAt > LIFETIME_MS

function requestOf(url: URL): string {
  const request = new URL(url)
  for (const name of ['state', 'code_challenge']) request.searchParams.delete(name)
  return request.href
}
