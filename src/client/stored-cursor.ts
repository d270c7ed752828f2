/**
 * Where a stream of events continues, in a storage of the user's: another process continues after the last event that was processed.
 */
import { canonicalJson } from '../definition/canonical-json.ts'
import { digest } from '../definition/digest.ts'
import { textOf } from '../definition/error-text.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { Connection } from './connection.ts'
import { MCPClientError } from './errors.ts'
import type { EventSelection } from './event-types.ts'
import type { OAuthStorage } from './oauth-storage.ts'
import { printable } from './printable.ts'

/** As of `createOAuthProvider`: strings by key. */
export type CursorStorage = Pick<OAuthStorage, 'get' | 'set'>

/** Characters of a cursor. */
const MAX_CURSOR = 8192
/** Between two writes while no event comes. */
const QUIET_MS = 30_000

/** @throws TypeError. It may be an object of a class, with members of its own. */
export function checkCursors(cursors: CursorStorage | undefined): void {
  for (const name of ['get', 'set'] as const)
    if (cursors !== undefined && typeof cursors[name] !== 'function')
      throw new TypeError(`"cursors" of events.stream must be a storage with get and set, such as a Map.`)
}

export class StoredCursor {
  readonly #connection: Connection
  readonly #storage: CursorStorage
  readonly #place: string
  #key: string | undefined
  /** What is stored, as far as it is known. */
  #stored: string | null
  #storedAt = 0

  /** @param cursor Where the stream begins; undefined: `load` says it. */
  constructor(
    connection: Connection,
    { name, arguments: args = {}, cursor }: EventSelection & { readonly cursor?: string | null },
    storage: CursorStorage,
  ) {
    const { server, config } = connection
    const place = 'url' in config ? new URL(config.url).href : server
    this.#connection = connection
    this.#storage = storage
    this.#place = JSON.stringify([place, name, canonicalJson(args)])
    this.#stored = cursor ?? null
  }

  /** Null: nothing is stored. Undefined: what is stored cannot be a cursor. @throws MCPClientError `STORAGE_FAILED` */
  async load(): Promise<string | null | undefined> {
    const stored: unknown = await this.#ask('get', (key) => this.#storage.get(key))
    if (stored === undefined || stored === null) return null
    if (typeof stored !== 'string' || stored === '' || stored.length > MAX_CURSOR) return undefined
    this.#stored = stored
    return stored
  }

  /** Writes it if it has changed. @throws MCPClientError `STORAGE_FAILED` */
  async save(cursor: string | null): Promise<void> {
    if (cursor === null || cursor === this.#stored) return
    await this.#ask('set', (key) => {
      if (cursor.length > MAX_CURSOR)
        throw new Error(`the server's cursor has more than ${MAX_CURSOR} characters`)
      return this.#storage.set(key, cursor)
    })
    this.#stored = cursor
    this.#storedAt = Date.now()
  }

  /** Whether to write it without an event: a server may move it often. */
  isDue(cursor: string | null): boolean {
    return cursor !== null && cursor !== this.#stored && Date.now() - this.#storedAt >= QUIET_MS
  }

  async #ask(member: 'get' | 'set', ask: (key: string) => unknown): Promise<unknown> {
    const { server, secrets } = this.#connection
    try {
      this.#key ??= `mayfly-cursor:${await digest(this.#place)}`
      return await withTimeout(ask(this.#key), ANSWER_TIMEOUT_MS, 'storage')
    } catch (cause) {
      const text = printable(secrets.hide(textOf(cause)))
      throw new MCPClientError(
        'STORAGE_FAILED',
        `"cursors.${member}" failed, so the stream of MCP server "${server}" has ended: ${text}`,
        { server, operation: 'events/stream', cause },
      )
    }
  }
}
