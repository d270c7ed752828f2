/** When API keys were last used, in a file of its own: a line for each use, which are only ever added. It decides nothing about a key. */
import { randomUUID } from 'node:crypto'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { memberOf } from '../../src/definition/error-text.ts'
import { USED_EVERY_MS } from '../../src/keys/uses.ts'
import { keepOwner, openToAppend } from './file-owner.ts'

export interface UseFile {
  /** By the ids of keys, in milliseconds since the epoch. */
  read(): Promise<ReadonlyMap<string, number>>
  /** Not if another use within the last hour is there. */
  add(id: string, lastUsedAt: number): Promise<void>
}

/** Then older uses of each key are left out. */
const MAX_BYTES = 262_144

const LINE = /^([0-9A-Za-z]{12}) (\d{1,16})$/gm

export function createUseFile(file: string): UseFile {
  return {
    read: async () => parse(await textIn(file)),
    async add(id, lastUsedAt) {
      const text = await textIn(file)
      const known = parse(text)
      const before = known.get(id)
      if (before !== undefined && lastUsedAt - before < USED_EVERY_MS) return
      // After a line that was not written completely.
      const separator = text === '' || text.endsWith('\n') ? '' : '\n'
      const handle = await openToAppend(file)
      try {
        await handle.appendFile(`${separator}${toLine([id, Math.floor(lastUsedAt)])}`)
      } finally {
        await handle.close()
      }
      const shortened = [...known].map(toLine).join('')
      if (text.length > MAX_BYTES && shortened.length < text.length / 2) await shorten(file)
    },
  }
}

/** A use that another process adds meanwhile may be lost, until the next hour. */
async function shorten(file: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`
  try {
    const uses = parse(await textIn(file))
    const before = await stat(file)
    const handle = await open(aside, 'wx', before.mode & 0o777)
    try {
      await handle.writeFile([...uses].map(toLine).join(''))
      await keepOwner(handle, before)
    } finally {
      await handle.close()
    }
    await rename(aside, file)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') return ''
    throw error
  }
}

/** The latest use of each key. */
function parse(text: string): Map<string, number> {
  const uses = new Map<string, number>()
  for (const [, id = '', at] of text.matchAll(LINE)) uses.set(id, Math.max(uses.get(id) ?? 0, Number(at)))
  return uses
}

function toLine([id, lastUsedAt]: readonly [string, number]): string {
  return `${id} ${lastUsedAt}\n`
}
