/** The name of a server and its stage in stores that several servers share: tables, prefixes, channels, keys and queues. */
import { requireStage } from './stage.ts'

/** Postgres allows 63 bytes, of which suffixes such as `_tasks_create` need 13. */
const MAX_LENGTH = 44
const PREFIX = 'mayfly_'

/** Base 36, 64 bits. */
const DIGEST_LENGTH = 13

/** Without "--", and without "-" at an end, since `__` is between the server and the stage. */
const PLAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** What could be a digest gets a digest of its own. */
const LIKE_DIGEST = /_[a-z0-9]{13}$/

const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n

/**
 * The name, of at most 44 characters `[a-z0-9_]`: `mayfly_shop` for the id `shop`, `mayfly_my_shop__staging` for `my-shop` and its stage
 * `staging`. Other characters than lower case letters, digits and "-", and longer ids, add a digest, so that two servers or stages never
 * get the same name.
 *
 * @throws TypeError for what is not the name of a stage.
 */
export function serverName(id: string, stage?: string): string {
  if (stage !== undefined) requireStage(stage, '"stage"')
  const name = `${PREFIX}${legible(id)}${stage === undefined ? '' : `__${legible(stage)}`}`
  const isPlain = PLAIN.test(id) && (stage === undefined || PLAIN.test(stage))
  if (isPlain && name.length <= MAX_LENGTH && !LIKE_DIGEST.test(name)) return name
  const legiblePart = name.slice(0, MAX_LENGTH - 1 - DIGEST_LENGTH).replace(/_+$/, '')
  // A stage contains no NUL, which ends it.
  return `${legiblePart}_${toDigest(`${stage ?? ''}\0${id}`)}`
}

function legible(text: string): string {
  return PLAIN.test(text) ? text.replaceAll('-', '_') : text.toLowerCase().replace(/[^a-z0-9]+/g, '_')
}

/** FNV-1a of the UTF-16 code units, since names are needed before anything asynchronous. It separates names, and protects nothing. */
function toDigest(text: string): string {
  let hash = FNV_OFFSET
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    for (const byte of [unit & 255, unit >> 8]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME)
  }
  return hash.toString(36).padStart(DIGEST_LENGTH, '0')
}
