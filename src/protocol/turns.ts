/** Spreads concurrent work of many sessions over turns of the event loop, so that calls are served in between. */

/** Undefined: continue. Otherwise call it again once the promise resolves. */
export type Turn = () => Promise<void> | undefined

/** Milliseconds of each turn of the event loop. */
const SHARE_MS = 10

/** By the object that the work belongs to, such as a server's engine. */
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
