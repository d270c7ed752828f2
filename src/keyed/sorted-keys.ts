/** Keys in their order, in pieces: among a million, one is added, deleted and found in little more time than among a thousand. */
import { compareKeys } from './commit.ts'

/** Keys of a piece. */
const MAX_PIECE = 512

export interface SortedKeys {
  /** A key that is not among them. */
  add(key: string): void
  delete(key: string): void
  /** Those from `first` on, in their order. None may be added or deleted while they are read. */
  from(first: string): Iterable<string>
}

export function createSortedKeys(): SortedKeys {
  /** None is empty, but the only one. */
  const pieces: string[][] = [[]]
  /** The piece in which the key is or would be. */
  const pieceOf = (key: string): number =>
    Math.min(
      firstAt(pieces.length, (at) => compareKeys(pieces[at]!.at(-1) ?? key, key) >= 0),
      pieces.length - 1,
    )
  const placeOf = (piece: readonly string[], key: string): number =>
    firstAt(piece.length, (at) => compareKeys(piece[at]!, key) >= 0)
  return {
    add(key) {
      const at = pieceOf(key)
      const piece = pieces[at]!
      piece.splice(placeOf(piece, key), 0, key)
      if (piece.length > MAX_PIECE) pieces.splice(at + 1, 0, piece.splice(MAX_PIECE / 2))
    },
    delete(key) {
      const at = pieceOf(key)
      const piece = pieces[at]!
      const place = placeOf(piece, key)
      if (piece[place] === key) piece.splice(place, 1)
      if (piece.length === 0 && pieces.length > 1) pieces.splice(at, 1)
    },
    *from(first) {
      const at = pieceOf(first)
      yield* pieces[at]!.slice(placeOf(pieces[at]!, first))
      for (let next = at + 1; next < pieces.length; next++) yield* pieces[next]!
    },
  }
}

/** The first place for which `isBehind` says true, and for all after it. The count, if there is none. */
function firstAt(count: number, isBehind: (at: number) => boolean): number {
  let low = 0
  for (let high = count; low < high; ) {
    const middle = (low + high) >>> 1
    if (isBehind(middle)) high = middle
    else low = middle + 1
  }
  return low
}
