/**
 * Spreads what many sessions do at once over turns of the event loop: calls are served meanwhile.
 */

/** Undefined: go on. Otherwise ask again once it resolves. */
export type Turn = () => Promise<void> | undefined

/** Milliseconds of each turn of the event loop. */
const SHARE_MS = 10

/** By any object that the work belongs to, such as a server's engine. */
const turnsOf = new WeakMap<object, Turn>()

export function turnOf(owner: object): Turn {
  const turn = turnsOf.get(owner) ?? createTurn()
  turnsOf.set(owner, turn)
  return turn
}

function createTurn(): Turn {
  let endsAt = 0
  let next: Promise<void> | undefined
  return () => {
    next ??= new Promise((resolve) => {
      endsAt = performance.now() + SHARE_MS
      setTimeout(() => {
        next = undefined
        resolve()
      })
    })
    return performance.now() < endsAt ? undefined : next
  }
}
