/**
 * Clients whose id is the URL of their metadata (MCP 2026-07-28, "Client ID Metadata Documents"; the IETF's draft of that name). Documents
 * are stored for a time, and a document that cannot be reached is used as it was: its client must not lose its connection by that.
 */

import type { JWTVerifyGetKey } from 'jose'
import { digest } from '../../definition/digest.ts'
import { isA, textOf } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import { setNewest } from '../../definition/set-newest.ts'
import type { GrantStore } from '../store/store.ts'
import type { ClientRecord } from '../tokens/library.ts'
import { commit, inOneUnit, type Unit } from '../unit.ts'
import { createShare } from './flights.ts'
import { counting } from './limits.ts'
import { fetchPublicJson, isPublicUrl, RefusedUrlError, UnreachableUrlError } from './public-fetch.ts'
import { type KeysAt, keysAt, keysIn } from './public-keys.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long a document is used without asking, if it does not say. */
const DEFAULT_FRESH_MS = 15 * MINUTE_MS
const MIN_FRESH_MS = 5 * MINUTE_MS
/** How long a document is used while it cannot be reached. */
const KEPT_MS = 7 * DAY_MS
/** The same, if nobody has signed in with its client. */
const UNUSED_MS = 30 * MINUTE_MS
/** How long a failure is remembered, for each of the last URLs. */
const FAILED_MS = 30_000
const MAX_REMEMBERED = 1000
const MAX_KEY_SETS = 200
const MAX_URL_CHARACTERS = 450
const MAX_REDIRECT_URIS = 20
const MAX_TEXT_CHARACTERS = 2048

/** Its document cannot be reached, and none is stored: nothing is wrong with the client. */
export class ClientUnreachableError extends Error {
  override readonly name = 'ClientUnreachableError'
}

/** Its document does not exist or is wrong, for the page. */
export class ClientRefusedError extends Error {
  override readonly name = 'ClientRefusedError'
}

/** Too many that are not known were asked for. */
export class ClientLimitError extends Error {
  override readonly name = 'ClientLimitError'
}

/** What a document says, as far as it counts. */
export interface ClientDocument extends ClientRecord {
  /** Whether the client may go without a proof: its document offers `none`. */
  readonly isPublic: boolean
  /** A key set, or the URL of one, if its document offers `private_key_jwt`. */
  readonly keys?: string | { readonly [member: string]: unknown }
}

interface Stored {
  readonly client: ClientDocument
  readonly freshUntil: number
  /** Whether somebody has signed in with it: until then it is kept for a short time, and is asked for within limits. */
  readonly isUsed: boolean
}

/** Who asks for a client, where. */
export interface Asker {
  readonly store: GrantStore
  readonly place: { readonly issuer: string }
  readonly address: string | undefined
}

/** The documents of clients, and their keys, as one process knows them. */
export interface Documents {
  /** @throws ClientUnreachableError, ClientRefusedError or ClientLimitError. */
  client(id: string, asker: Asker): Promise<KnownDocument>
  /** Undefined: it has none. */
  keysOf(client: KnownDocument, asker: Asker): JWTVerifyGetKey | undefined
  /** Keeps a document that somebody has signed in with. */
  keep(id: string, unit: Unit): Promise<void>
}

export interface KnownDocument extends ClientDocument {
  readonly isUsed: boolean
}

interface Failure {
  readonly error: unknown
  readonly until: number
}

export function createDocuments(fetch: typeof globalThis.fetch): Documents {
  const failures = new Map<string, Failure>()
  const keys = new Map<string, KeysAt>()
  const share = createShare<Stored>('document of a client')
  const load = async (
    id: string,
    stored: Stored | undefined,
    version: string | undefined,
    asker: Asker,
  ): Promise<Stored> => {
    const isUsed = stored?.isUsed === true
    if (!isUsed) await countAsked(asker)
    const { value, cacheControl } = await fetchPublicJson(id, fetch)
    const now = Date.now()
    const expiresAt = now + (isUsed ? KEPT_MS : UNUSED_MS)
    const freshUntil = Math.min(now + freshMs(cacheControl), expiresAt)
    const record: Stored = { client: toClient(id, value), freshUntil, isUsed }
    // If another process was faster, its record is as good.
    const write = {
      key: await keyOf(id),
      value: JSON.stringify(record),
      expiresAt,
      ifVersion: version ?? null,
    }
    await commit(asker.store, [write])
    return record
  }
  const find = async (id: string, asker: Asker): Promise<Stored> => {
    const entry = await asker.store.read(await keyOf(id))
    const stored = readStored(entry?.value)
    if (stored !== undefined && stored.freshUntil > Date.now()) return stored
    const key = JSON.stringify([asker.place.issuer, id])
    let error = failures.get(key)
    if (error === undefined || error.until <= Date.now()) {
      const isJoined = share.has(key)
      const loading = () => share.run(key, () => load(id, stored, entry?.version, asker))
      try {
        return await loading().catch((cause) => {
          // The limit of another caller.
          if (isJoined && isA(cause, ClientLimitError)) return loading()
          throw cause
        })
      } catch (cause) {
        if (!isA(cause, UnreachableUrlError) && !isA(cause, RefusedUrlError)) throw cause
        error = { error: cause, until: Date.now() + FAILED_MS }
        setNewest(failures, key, error, MAX_REMEMBERED)
      }
    }
    const { error: cause } = error
    if (!isA(cause, UnreachableUrlError))
      throw new ClientRefusedError(`The client's document at ${id} cannot be used: ${textOf(cause)}.`, {
        cause,
      })
    if (stored !== undefined) return stored
    throw new ClientUnreachableError(`The client's document at ${id} cannot be reached.`, { cause })
  }
  return {
    async client(id, asker) {
      requireDocumentUrl(id)
      const { client, isUsed } = await find(id, asker)
      return { ...client, isUsed }
    },
    keysOf(client, asker) {
      const given = client.keys
      if (typeof given !== 'string') return given && keysIn(given)
      const known = keys.get(given) ?? keysAt(given, fetch)
      setNewest(keys, given, known, MAX_KEY_SETS)
      return known(client.isUsed ? undefined : () => countAsked(asker))
    },
    async keep(id, unit) {
      const key = await keyOf(id)
      if (readStored((await unit.peek(key))?.value)?.isUsed !== false) return
      const stored = readStored(await unit.read(key))
      if (stored === undefined) return
      unit.put(key, JSON.stringify({ ...stored, isUsed: true } satisfies Stored), Date.now() + KEPT_MS)
    },
  }
}

const keyOf = async (id: string): Promise<string> => `document:${await digest(id)}`

/** @throws ClientLimitError. */
async function countAsked({ store, address }: Asker): Promise<void> {
  await inOneUnit(
    store,
    async () => undefined,
    async (unit) => {
      const count = await counting('asked', address, unit)
      if (count === undefined)
        throw new ClientLimitError('Too many new clients came in this hour: try again later.')
      await count.inAll()
    },
  )
}

function readStored(text: string | undefined): Stored | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Stored)
}

/** Between five minutes and a day. */
function freshMs(cacheControl: string): number {
  const seconds = /(?:^|,)\s*(?:s-maxage|max-age)\s*=\s*"?(\d{1,9})/i.exec(cacheControl)?.[1]
  if (seconds === undefined) return DEFAULT_FRESH_MS
  return Math.min(Math.max(Number(seconds) * 1000, MIN_FRESH_MS), DAY_MS)
}

/** As the draft demands: a path, and nothing that two readers could understand differently. */
function requireDocumentUrl(id: string): void {
  const refuse = (why: string): never => {
    throw new ClientRefusedError(`The client's id is not the URL of a metadata document: ${why}.`)
  }
  if (id.length > MAX_URL_CHARACTERS) refuse(`it is over ${MAX_URL_CHARACTERS} characters`)
  if (!/^https:\/\/[^/?#\\\s]+\/[^#\\\s]+$/.test(id) || !URL.canParse(id)) refuse('it needs https and a path')
  const url = new URL(id)
  if (url.href !== id) refuse(`it is not written as ${url.href}`)
  if (!isPublicUrl(url)) refuse('it is not at a public https address')
}

function toClient(id: string, value: unknown): ClientDocument {
  const refuse = (why: string): never => {
    throw new RefusedUrlError(why)
  }
  if (!isObject(value)) return refuse('it is not an object')
  if (value.client_id !== id) refuse('its client_id is not its URL')
  const { client_name: name, redirect_uris: uris } = value
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_TEXT_CHARACTERS)
    return refuse('it has no client_name')
  if ('client_secret' in value || 'client_secret_expires_at' in value) refuse('it has a client_secret')
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((one) => typeof one === 'string' && one.length <= MAX_TEXT_CHARACTERS)
  if (!isList(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    return refuse(`it has no redirect_uris, or more than ${MAX_REDIRECT_URIS}`)
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: methods } = value
  const offered = isList(methods) ? methods : [method ?? 'none']
  const isPublic = offered.includes('none')
  const { jwks, jwks_uri: url } = value
  const given = isObject(jwks)
    ? jwks
    : typeof url === 'string' && url.length <= MAX_TEXT_CHARACTERS
      ? url
      : undefined
  const keys = offered.includes('private_key_jwt') ? given : undefined
  if (typeof keys === 'string' && !(URL.canParse(keys) && isPublicUrl(new URL(keys))) && !isPublic)
    refuse('its jwks_uri is not at a public https address')
  if (!isPublic && keys === undefined)
    refuse('its token_endpoint_auth_method is neither "none" nor "private_key_jwt" with keys')
  const chosen = (given: unknown, known: readonly string[], usual: readonly string[]): string[] =>
    (isList(given) ? given : usual).filter((one) => known.includes(one))
  const grantTypes = chosen(
    value.grant_types,
    ['authorization_code', 'refresh_token'],
    ['authorization_code'],
  )
  if (!grantTypes.includes('authorization_code')) refuse('its grant_types have no authorization_code')
  return {
    clientId: id,
    clientName: name.trim(),
    redirectUris: uris,
    grantTypes,
    responseTypes: chosen(value.response_types, ['code'], ['code']),
    tokenEndpointAuthMethod: 'none',
    isPublic,
    ...(keys !== undefined && { keys }),
  }
}
