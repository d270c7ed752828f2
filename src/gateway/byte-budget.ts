/** A limit for the bytes of all that is kept, of which one caller may take a part. What was used longest ago is forgotten first. */

/** Forgets what is kept: it gives way to something else. Also the name under which it is counted. */
export type Forget = () => void

export interface Budget {
  /**
   * Counts what is kept. Returns false if it is too large.
   *
   * @param owner The caller that it is kept for; undefined for all.
   */
  keep(key: Forget, bytes: number, owner: string | undefined): boolean
  /** Called for each use. */
  touch(key: Forget): void
  /** Calls it, and no longer counts it. */
  forget(key: Forget): void
}

interface Kept {
  readonly bytes: number
  readonly owner: string | undefined
}

/** The part of all that one caller may take. */
export const SHARE = 0.5

export function createBudget(maxBytes: number): Budget {
  /** In the order of their use. */
  const kept = new Map<Forget, Kept>()
  const ofOwner = new Map<string, number>()
  let total = 0

  const count = ({ bytes, owner }: Kept, sign: 1 | -1): void => {
    total += sign * bytes
    if (owner === undefined) return
    const held = (ofOwner.get(owner) ?? 0) + sign * bytes
    if (held > 0) ofOwner.set(owner, held)
    else ofOwner.delete(owner)
  }

  const drop = (key: Forget): void => {
    const found = kept.get(key)
    if (found === undefined) return
    kept.delete(key)
    count(found, -1)
  }

  const forget = (key: Forget): void => {
    drop(key)
    key()
  }

  const forgetOldest = (owner: string | undefined): void => {
    for (const [key, one] of kept) {
      if (owner !== undefined && one.owner !== owner) continue
      forget(key)
      return
    }
  }

  return {
    forget,
    touch(key) {
      const found = kept.get(key)
      if (found === undefined) return
      kept.delete(key)
      kept.set(key, found)
    },
    keep(key, bytes, owner) {
      drop(key)
      const most = owner === undefined ? maxBytes : maxBytes * SHARE
      if (bytes > most) return false
      if (owner !== undefined) while ((ofOwner.get(owner) ?? 0) + bytes > most) forgetOldest(owner)
      while (total + bytes > maxBytes) forgetOldest(undefined)
      const one = { bytes, owner }
      kept.set(key, one)
      count(one, 1)
      return true
    },
  }
}
