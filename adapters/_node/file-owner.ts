/** Who owns the files that a process creates: one of root would make them unreadable for the server, which seldom runs as root. */
import { constants } from 'node:fs'
import { type FileHandle, lchown, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { memberOf } from '../../src/definition/error-text.ts'

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Opens a file to add to it. A new one may only be read by its owner: of root, the owner of its folder. */
export async function openToAppend(file: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants
  let handle: FileHandle
  try {
    // Does not follow links, so that only what was created here is given away.
    handle = await open(file, O_APPEND | O_CREAT | O_EXCL | O_WRONLY, 0o600)
  } catch (error) {
    if (memberOf(error, 'code') !== 'EEXIST') throw error
    return open(file, 'a', 0o600)
  }
  try {
    if (isRoot()) await keepOwner(handle, await stat(dirname(file)))
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Creates a folder and those above it. */
export async function createFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined || !isRoot()) return
  const { uid, gid } = await stat(dirname(first))
  for (let created = folder; ; created = dirname(created)) {
    await lchown(created, uid, gid)
    if (created === first || created === dirname(created)) return
  }
}

/** Gives a file to `owner`, which only root may do. */
export async function keepOwner(handle: FileHandle, { uid, gid }: Owner): Promise<void> {
  if (isRoot()) await handle.chown(uid, gid)
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
