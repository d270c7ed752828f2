/** API keys in a file, for servers on one machine. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { memberOf } from '../../src/definition/error-text.ts'
import { type KeyStore, type StoredKey, toRecord, toStoredKey } from '../../src/keys/store.ts'

type Keys = ReadonlyMap<string, StoredKey>

/** Milliseconds that a writer waits for others. */
const WAIT_MS = 2500
const POLL_MS = 10
/** What a lock is held for takes milliseconds: an older one was left behind by a process that was killed. */
const STALE_MS = 1500

/**
 * Creates a store of API keys in a JSON file, for `apiKeys` of `mayfly-mcp/keys`: for servers on one machine. Several processes may use it at once, and
 * see each change with their next read. Only its owner may read the file, which contains hashes and no keys; it is replaced as a whole.
 *
 * ```ts
 * apiKeys({ store: fileKeyStore('keys.json') })
 * ```
 *
 * @param path Relative to the working directory. The file does not have to exist.
 * @throws TypeError without a path.
 */
export function fileKeyStore(path: string): KeyStore {
  if (typeof path !== 'string' || path === '') throw new TypeError('fileKeyStore needs the path of a file.')
  const file = resolve(path)
  let known: { readonly version: string; readonly keys: Keys } | undefined

  const readAll = async (): Promise<Keys> => {
    const version = await versionOf(file)
    if (version === undefined) return new Map()
    if (known?.version !== version) known = { version, keys: parse(await readFile(file, 'utf8'), file) }
    return known.keys
  }

  /** @param change Returns undefined to leave the file as it is. */
  const write = (change: (keys: Keys) => StoredKey | undefined): Promise<boolean> =>
    withLock(file, async () => {
      const keys = parse((await versionOf(file)) === undefined ? '[]' : await readFile(file, 'utf8'), file)
      const changed = change(keys)
      if (changed === undefined) return false
      const all = [...new Map(keys).set(changed.id, changed).values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      const aside = `${file}.${randomUUID()}`
      const text = `[\n${all.map((key) => `  ${JSON.stringify(key)}`).join(',\n')}\n]\n`
      try {
        await writeFile(aside, text, { mode: 0o600, flag: 'wx', flush: true })
        await rename(aside, file)
      } catch (error) {
        await rm(aside, { force: true })
        throw error
      }
      return true
    })

  return {
    async create(key) {
      toRecord(key)
      await mkdir(dirname(file), { recursive: true })
      return write((keys) => (keys.has(key.id) ? undefined : toStoredKey(key)))
    },
    read: async (id) => (await readAll()).get(id),
    async list({ limit, after = '' }) {
      const keys = [...(await readAll()).values()].filter(({ id }) => id > after).slice(0, limit)
      const next = keys.length < limit ? undefined : keys.at(-1)!.id
      return { keys, ...(next !== undefined && { next }) }
    },
    async revoke(id, revokedAt) {
      if (!(await readAll()).has(id)) return false
      return write((keys) => {
        const key = keys.get(id)
        return key && { ...key, revokedAt: key.revokedAt ?? revokedAt }
      })
    },
    async use(id, lastUsedAt) {
      await write((keys) => {
        const key = keys.get(id)
        return key && { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, lastUsedAt) }
      })
    },
  }
}

/** Each change is a new file. Undefined: there is none. */
async function versionOf(file: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    return `${ino} ${mtimeNs} ${size}`
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') return undefined
    throw error
  }
}

/** @throws Error naming the file, without its content. */
function parse(text: string, file: string): Keys {
  let entries: unknown
  try {
    entries = JSON.parse(text)
  } catch {
    // Left undefined.
  }
  if (!Array.isArray(entries)) throw new Error(`${file} is not a JSON list of API keys.`)
  return new Map(entries.map(toStoredKey).map((key) => [key.id, key]))
}

/** Runs `work` in one process at a time. */
async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`
  const end = Date.now() + WAIT_MS
  while (!(await take(lock))) {
    await removeStale(lock)
    if (Date.now() > end)
      throw new Error(`${file} is locked: remove ${lock} if no other program writes the keys.`)
    await delay(POLL_MS * (1 + Math.random()))
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)).close()
    return true
  } catch (error) {
    if (memberOf(error, 'code') === 'EEXIST') return false
    throw error
  }
}

/** By a rename, which only one process can do. */
async function removeStale(lock: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(lock)
    if (Date.now() - mtimeMs < STALE_MS) return
    const aside = `${lock}.${randomUUID()}`
    await rename(lock, aside)
    await rm(aside, { force: true })
  } catch (error) {
    if (memberOf(error, 'code') !== 'ENOENT') throw error
  }
}
