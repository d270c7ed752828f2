/**
 * Clients whose id is the URL of their metadata (MCP 2026-07-28, "Client ID Metadata Documents"; the IETF's draft of that name). Documents
 * are stored for a time, and a document that cannot be reached is used as it was: its client must not lose its connection by that.
 */

import type { JWTVerifyGetKey } from 'jose'
import { digest } from '../../definition/digest.ts'
import { isA, textOf } from '../../definition/error-text.ts'
import { createShare } from '../../definition/flights.ts'
import { setNewest } from '../../definition/set-newest.ts'
import type { GrantStore } from '../store/store.ts'
import { commit, inOneUnit, type Unit } from '../unit.ts'
import { type ClientDocument, ClientRefusedError, requireDocumentUrl, toClient } from './document-content.ts'
import { type Allowance, allowanceOf, COUNTING_ATTEMPTS, hostOf } from './limits.ts'
import { fetchPublicJson, RefusedUrlError, UnreachableUrlError } from './public-fetch.ts'
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
/** Documents that are not stored, of up to 5 KB each. */
const MAX_UNSTORED = 200
/** Requests of others that a caller waits for, if each of them was refused, before it asks alone. */
const MAX_SHARED = 3
const WITHOUT_LIMIT: Pick<Allowance, 'isStored'> = { isStored: true }

/** Its document cannot be reached, and none is stored: nothing is wrong with the client. */
export class ClientUnreachableError extends Error {
  override readonly name = 'ClientUnreachableError'
}

/** Too many that are not known were asked for. */
export class ClientLimitError extends Error {
  override readonly name = 'ClientLimitError'
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
  /** `idle`: seconds for which a connection may be unused. */
  readonly lifetimes: { readonly idle: number }
}

/** The documents of clients, and their keys, as one process knows them. */
export interface Documents {
  /** @throws ClientUnreachableError, ClientRefusedError or ClientLimitError. */
  client(id: string, asker: Asker): Promise<KnownDocument>
  /** Undefined: it has none. */
  keysOf(client: KnownDocument, asker: Asker): JWTVerifyGetKey | undefined
  /** Keeps a document that somebody has signed in with. */
  keep(id: string, unit: Unit, asker: Asker): Promise<void>
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
  const unstored = new Map<string, Stored>()
  const share = createShare<Stored | undefined>('document of a client')
  const held = (name: string): Stored | undefined => ifFresh(unstored.get(name))
  const read = async (id: string, { store, place }: Asker): Promise<Found> => {
    const entry = await store.read(await keyOf(id))
    return { stored: readStored(entry?.value) ?? held(nameOf(id, place)), version: entry?.version }
  }
  /** Undefined: the caller is at its limit. */
  const load = async (id: string, isUsed: boolean, asker: Asker): Promise<Stored | undefined> => {
    const { stored, version } = await read(id, asker)
    // It came between the look of this caller and its turn.
    const known = ifFresh(stored)
    if (known !== undefined) return known
    const allowance = isUsed ? WITHOUT_LIMIT : await spend(asker)
    if (allowance === undefined) return undefined
    const { value, cacheControl } = await fetchPublicJson(id, fetch)
    const now = Date.now()
    const expiresAt = now + (isUsed ? KEPT_MS : UNUSED_MS)
    const freshUntil = Math.min(now + freshMs(cacheControl), expiresAt)
    const record: Stored = { client: toClient(id, value), freshUntil, isUsed }
    if (!allowance.isStored) {
      setNewest(unstored, nameOf(id, asker.place), record, MAX_UNSTORED)
      return record
    }
    // If another process was faster, its record is as good.
    const write = {
      key: await keyOf(id),
      value: JSON.stringify(record),
      expiresAt,
      ifVersion: version ?? null,
    }
    const mark = { key: await markOf(id), value: '1', expiresAt: markedUntil(asker) }
    await commit(asker.store, isUsed ? [write, mark] : [write])
    return record
  }
  /** The limit of one caller is not that of others: those who wait for the request of one that was refused go on without it. */
  const ask = async (id: string, isUsed: boolean, asker: Asker): Promise<Stored> => {
    const name = nameOf(id, asker.place)
    for (let attempt = 1; attempt <= MAX_SHARED; attempt++) {
      if (!isUsed && !share.has(name) && !(await isAllowed(asker)) && !share.has(name)) {
        const known = ifFresh((await read(id, asker)).stored)
        if (known === undefined) throw tooMany()
        return known
      }
      let isOwn = false
      const found = await share.run(name, () => {
        isOwn = true
        return load(id, isUsed, asker)
      })
      if (found !== undefined) return found
      if (isOwn) throw tooMany()
    }
    const found = await load(id, isUsed, asker)
    if (found === undefined) throw tooMany()
    return found
  }
  const find = async (id: string, asker: Asker): Promise<Stored> => {
    const { stored } = await read(id, asker)
    const known = ifFresh(stored)
    if (known !== undefined) return known
    const name = failureOf(id, asker.place)
    let error = failures.get(name)
    if (error === undefined || error.until <= Date.now()) {
      const isUsed = stored?.isUsed === true || (await asker.store.read(await markOf(id))) !== undefined
      try {
        return await ask(id, isUsed, asker)
      } catch (cause) {
        if (!isA(cause, UnreachableUrlError) && !isA(cause, RefusedUrlError)) throw cause
        error = { error: cause, until: Date.now() + FAILED_MS }
        setNewest(failures, name, error, MAX_REMEMBERED)
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
      const allow = async (): Promise<void> => {
        if ((await spend(asker)) === undefined) throw tooMany()
      }
      return known(client.isUsed ? undefined : allow)
    },
    async keep(id, unit, asker) {
      const key = await keyOf(id)
      if (readStored((await unit.peek(key))?.value)?.isUsed === true) return
      const stored = readStored(await unit.read(key)) ?? held(nameOf(id, asker.place))
      if (stored === undefined) return
      unit.put(key, JSON.stringify({ ...stored, isUsed: true } satisfies Stored), Date.now() + KEPT_MS)
      unit.put(await markOf(id), '1', markedUntil(asker))
    },
  }
}

interface Found {
  readonly stored: Stored | undefined
  /** Of the entry in the store. */
  readonly version: string | undefined
}

const keyOf = async (id: string): Promise<string> => `document:${await digest(id)}`
/** That somebody has signed in with the client of a document: for longer than the document is kept. */
const markOf = async (id: string): Promise<string> => `used:${await digest(id)}`
const nameOf = (id: string, { issuer }: Asker['place']): string => JSON.stringify([issuer, id])
/** Of a host, as the counters: paths and ports may be made up. */
const failureOf = (id: string, { issuer }: Asker['place']): string => JSON.stringify([hostOf(issuer), id])

/** Until the last connection ends that could be refreshed with the document as it is kept from now on. */
const markedUntil = ({ lifetimes }: Asker): number => Date.now() + KEPT_MS + lifetimes.idle * 1000 + DAY_MS

/** Undefined: this caller is at its limit. */
function spend(asker: Asker): Promise<Allowance | undefined> {
  return inUnit(asker, async (unit) => {
    const allowance = await allowanceOf('asked', asker.address, unit)
    await allowance?.count()
    return allowance
  })
}

function isAllowed(asker: Asker): Promise<boolean> {
  return inUnit(asker, async (unit) => (await allowanceOf('asked', asker.address, unit)) !== undefined)
}

const inUnit = <Result>({ store }: Asker, work: (unit: Unit) => Promise<Result>): Promise<Result> =>
  inOneUnit(store, async () => undefined, work, COUNTING_ATTEMPTS)

function tooMany(): ClientLimitError {
  return new ClientLimitError('Too many new clients came in this hour: try again later.')
}

/** Undefined: it has to be asked for. */
function ifFresh(stored: Stored | undefined): Stored | undefined {
  return stored !== undefined && stored.freshUntil > Date.now() ? stored : undefined
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
