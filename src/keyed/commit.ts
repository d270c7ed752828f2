/** What each store does before it writes: the same limits everywhere, and a receipt by which it knows a repeated commit. */
import { digest } from '../definition/digest.ts'
import { type KeyedStore, type KeyedWrite, MAX_KEY_CHARACTERS, MAX_VALUE_BYTES, MAX_WRITES } from './store.ts'

/** A commit that can be stored. */
export interface Commit {
  readonly version: string
  readonly writes: readonly KeyedWrite[]
  /** The key of an entry that is written with the others, whose value is `digest`. No key of a caller is equal to it or after it. */
  readonly receipt: string
  /** Of the version and the writes: equal for exactly this commit. */
  readonly digest: string
}

/** Milliseconds for which a repeated commit is known as the one that was made. */
export const RECEIPT_MS = 600_000

/** Before all keys of callers, which have no control characters. */
const RECEIPT = '\u0001'

/** After all keys with a prefix: a noncharacter, which keys of callers do not have. */
const LAST = '\u{10FFFF}'

/** What DynamoDB accepts. */
const MAX_KEY_BYTES = 1024
const MAX_VERSION_CHARACTERS = 128
/** The last time of a `Date`. */
const MAX_TIME = 8.64e15
const MAX_PAGE = 1000

/** Whether an entry with this key can exist. */
export function isEntryKey(key: unknown): key is string {
  return (
    typeof key === 'string' &&
    key !== '' &&
    key.length <= MAX_KEY_CHARACTERS &&
    isPlain(key) &&
    bytesOf(key) <= MAX_KEY_BYTES
  )
}

/** @throws TypeError for a commit that no store could make. The errors contain no values. */
export async function toCommit(version: string, given: readonly KeyedWrite[]): Promise<Commit> {
  // There is never an entry under what cannot be a key, which may be a caller's.
  const writes = given.filter(
    ({ key, ifVersion, isCheck }) => isCheck !== true || ifVersion != null || isEntryKey(key),
  )
  const isVersion = (given: unknown): boolean =>
    typeof given === 'string' && given !== '' && given.length <= MAX_VERSION_CHARACTERS && isPlain(given)
  if (!isVersion(version))
    throw new TypeError(
      `The version of a commit must be 1 to ${MAX_VERSION_CHARACTERS} characters, none of them a control character.`,
    )
  if (writes.length > MAX_WRITES) throw new TypeError(`A commit has at most ${MAX_WRITES} writes.`)
  if (new Set(writes.map(({ key }) => key)).size < writes.length)
    throw new TypeError('A commit has at most one write of each key.')
  for (const { key, value, expiresAt, ifVersion } of writes) {
    if (!isEntryKey(key))
      throw new TypeError(
        `The key of an entry must be 1 to ${MAX_KEY_CHARACTERS} characters and at most ${MAX_KEY_BYTES} bytes, without control characters.`,
      )
    if (value !== undefined && !isValue(value))
      throw new TypeError(
        `The value of an entry must be text of at most ${MAX_VALUE_BYTES} bytes, without unpaired surrogates.`,
      )
    if (expiresAt !== undefined && !(expiresAt >= 0 && expiresAt <= MAX_TIME))
      throw new TypeError('"expiresAt" of an entry must be in milliseconds since the epoch.')
    if (ifVersion !== undefined && ifVersion !== null && !isVersion(ifVersion))
      throw new TypeError('"ifVersion" of a write must be a version, null or undefined.')
  }
  const normal = writes.map(toNormal)
  return {
    version,
    writes: normal,
    receipt: `${RECEIPT}${version}`,
    digest: await digest(JSON.stringify([version, normal])),
  }
}

/** The members that count, in one order. */
function toNormal({ key, value, expiresAt, ifVersion, isCheck }: KeyedWrite): KeyedWrite {
  if (isCheck === true) return { key, ifVersion, isCheck }
  if (value === undefined) return { key, ifVersion }
  return { key, value, ifVersion, ...(expiresAt !== undefined && { expiresAt: Math.ceil(expiresAt) }) }
}

/** The keys of a page are after `after`, from `from` on, and before `to`. */
export interface KeyRange {
  readonly from: string
  readonly to: string
  /** An empty string is before all keys. */
  readonly after: string
  readonly limit: number
}

/** Undefined: no key begins so. */
export function toRange({
  prefix,
  limit,
  after = '',
}: Parameters<KeyedStore['list']>[0]): KeyRange | undefined {
  if (![prefix, after].every((text) => text === '' || isEntryKey(text))) return undefined
  // Receipts are before the space.
  const from = prefix === '' ? ' ' : prefix
  return { from, to: `${prefix}${LAST}`, after, limit: Math.min(Math.max(Math.floor(limit), 1), MAX_PAGE) }
}

/** The order of code points, which is that of the bytes of UTF-8. JavaScript's own has surrogates before U+E000. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at === length ? a.length - b.length : rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
}

/** Surrogates are of characters after all others. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Without control characters, unpaired surrogates and noncharacters. */
function isPlain(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{NChar}]/u.test(text)
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' && bytesOf(value) <= MAX_VALUE_BYTES && !/\p{Cs}/u.test(value)
}
