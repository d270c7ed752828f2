/**
 * API keys in a file, for servers on one machine. A line for each key and for each revocation, which are only ever added, each in one write:
 * a process that was paused in the middle of a change cannot undo what others have written since. Last uses are in a file of their own.
 */
import { type BigIntStats, readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { memberOf, textOf } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { type KeyStore, type StoredKey, sameId, toRecord, toStoredKey } from '../../src/keys/store.ts'
import { createFolder, openToAppend } from './file-owner.ts'
import { createUseFile } from './key-use-file.ts'

type Revocation = { readonly id: string; readonly revokedAt: number }

interface Content {
  readonly keys: ReadonlyMap<string, StoredKey>
  /** What a new line begins with. */
  readonly separator: string
  /** Which keys have one id. */
  readonly fault: string | undefined
}

const NO_FILE: Content = { keys: new Map(), separator: '', fault: undefined }

/** At the end of a line that was not written completely, because the disk was full or the machine stopped. */
const CUT = '#cut'

/** Each line begins with these characters, so that other files are not taken for one with a cut line. */
const START = '{"id":"'

/** The id of a key whose revocation was cut: it may not stay accepted. */
const CUT_REVOCATION = /^\{"id":"([0-9A-Za-z]{12})","revokedAt"/

/**
 * Creates a store of API keys in a file with a line of JSON for each key, for `apiKeys` of `mayfly-mcp/keys`: for servers on one machine.
 * Several processes may use it at once, and see each change with their next read. Only its owner may read the file, which contains hashes
 * and no keys; one that root creates belongs to the owner of its folder. Two keys with one id let no one in. A second file, `<path>.used`, has when keys were last used.
 *
 * ```ts
 * apiKeys({ store: fileKeyStore('keys.jsonl') })
 * ```
 *
 * @param path Relative to the working directory. The file does not have to exist.
 * @throws TypeError without a path.
 */
export function fileKeyStore(path: string): KeyStore {
  if (typeof path !== 'string' || path === '') throw new TypeError('fileKeyStore needs the path of a file.')
  const file = resolve(path)
  const uses = createUseFile(`${file}.used`)
  let known: ({ readonly version: string } & Content) | undefined

  const readContent = async (): Promise<Content> => {
    const version = await versionOf(file)
    if (version === undefined) return NO_FILE
    if (known?.version !== version) known = { version, ...parse(await readFile(file, 'utf8'), file) }
    return known
  }
  const readContentSync = (): Content => {
    const version = versionIn(statSync(file, { bigint: true, throwIfNoEntry: false }))
    if (version === undefined) return NO_FILE
    if (known?.version !== version) known = { version, ...parse(readFileSync(file, 'utf8'), file) }
    return known
  }
  const keyOf = async (id: string): Promise<StoredKey | undefined> => (await readContent()).keys.get(id)
  /** Returns the key as it is then. */
  const add = async (entry: StoredKey | Revocation): Promise<StoredKey> => {
    const { separator } = await readContent()
    await append(file, `${separator}${JSON.stringify(entry)}\n`)
    const key = await keyOf(entry.id)
    if (key !== undefined && ('hash' in entry || key.revokedAt !== undefined)) return key
    throw new Error(`${file} was replaced by another program: try again.`)
  }

  return {
    async create(key) {
      toRecord(key)
      await createFolder(dirname(file))
      if ((await keyOf(key.id)) !== undefined) return false
      return (await add(toStoredKey(key))).hash === key.hash
    },
    read: keyOf,
    async list({ limit, after = '' }) {
      const { keys } = await readContent()
      const ids = [...keys.keys()].filter((id) => id > after).sort()
      const used = await uses.read()
      const page = ids.slice(0, limit).map((id) => withUse(keys.get(id)!, used.get(id)))
      return { keys: page, ...(ids.length > limit && { next: page.at(-1)!.id }) }
    },
    async revoke(id, revokedAt) {
      const key = await keyOf(id)
      if (key === undefined) return false
      if (key.revokedAt === undefined) await add({ id, revokedAt })
      return true
    },
    async use(id, lastUsedAt) {
      if ((await keyOf(id)) !== undefined) await uses.add(id, lastUsedAt)
    },
    get fault() {
      try {
        return readContentSync().fault
      } catch (error) {
        return textOf(error)
      }
    },
  }
}

function withUse(key: StoredKey, lastUsedAt: number | undefined): StoredKey {
  return lastUsedAt === undefined ? key : { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, lastUsedAt) }
}

/** Undefined: there is no file. */
async function versionOf(file: string): Promise<string | undefined> {
  try {
    return versionIn(await stat(file, { bigint: true }))
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') return undefined
    throw error
  }
}

function versionIn(stats: BigIntStats | undefined): string | undefined {
  return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`
}

/** In one write, which the system does not mix with others. */
async function append(file: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const handle = await openToAppend(file)
  try {
    const { bytesWritten } = await handle.write(bytes)
    if (bytesWritten < bytes.length) throw new Error(`${file} was not written completely: the disk is full.`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** @throws Error naming the file and the line, without its content. */
function parse(text: string, file: string): Content {
  const lines = text.split('\n')
  const keys = new Map<string, StoredKey>()
  const faults = new Map<string, string>()
  const revoked = new Map<string, number>()
  const revoke = ({ id, revokedAt }: Revocation) => revoked.set(id, revoked.get(id) ?? revokedAt)
  const addKey = (key: StoredKey): void => {
    const other = keys.get(key.id)
    if (other === undefined) keys.set(key.id, key)
    else if (!isDeepStrictEqual(other, key)) faults.set(key.id, sameId(other, key))
  }
  const addLine = (line: string, where: string): void => {
    if (line.trim() === '') return
    const entry = jsonIn(line)
    try {
      if (isRevocation(entry)) revoke(entry)
      else addKey(toStoredKey(entry))
    } catch (error) {
      throw new Error(`${where} is not an API key or a revocation: ${textOf(error)}`)
    }
  }
  const addCut = (line: string): void => {
    const [, id] = CUT_REVOCATION.exec(line) ?? []
    if (id !== undefined) revoke({ id, revokedAt: 0 })
  }
  const last = lines.at(-1)!
  const isCut = START.startsWith(last.slice(0, START.length)) && last !== '' && jsonIn(last) === undefined
  for (const [index, line] of lines.entries()) {
    if (line.endsWith(CUT) || (isCut && index === lines.length - 1)) addCut(line)
    else addLine(line, `Line ${index + 1} of ${file}`)
  }
  for (const id of faults.keys()) keys.delete(id)
  for (const [id, revokedAt] of revoked) {
    const key = keys.get(id)
    if (key !== undefined) keys.set(id, { ...key, revokedAt: key.revokedAt ?? revokedAt })
  }
  const fault = faults.size === 0 ? undefined : `${file}: ${[...faults.values()].join(' ')}`
  return { keys, fault, separator: isCut ? `${CUT}\n` : last === '' ? '' : '\n' }
}

function isRevocation(entry: unknown): entry is Revocation {
  return (
    isObject(entry) &&
    Object.keys(entry).length === 2 &&
    typeof entry.id === 'string' &&
    typeof entry.revokedAt === 'number'
  )
}

/** Undefined for any other text: the error of JSON.parse would show a part of it. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
