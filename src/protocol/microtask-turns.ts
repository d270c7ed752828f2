/**
 * Waiting for what happens within microtasks, before anything is spent on what takes longer.
 */

/**
 * Calls `act` after so many turns of the microtask queue, unless `isOver` says before that it is not needed. `then` costs less than
 * the same turns of an async function, and both cost less than a timer.
 */
export function afterTurns(turns: number, isOver: () => boolean, act: () => void): void {
  const now = Promise.resolve()
  let left = turns
  const turn = (): void => {
    if (isOver()) return
    if (left-- > 0) now.then(turn)
    else act()
  }
  turn()
}
