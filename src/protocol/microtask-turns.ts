/**
 * Waiting for what happens within microtasks, before anything is spent on what takes longer.
 */

/**
 * Calls `act` after so many turns of the microtask queue, or as soon as it `isDue`, unless it `isOver` before. `then` costs less than the
 * same turns of an async function, and both cost less than a timer.
 */
export function afterTurns(
  turns: number,
  act: () => void,
  isOver: () => boolean,
  isDue: () => boolean = () => false,
): void {
  const now = Promise.resolve()
  let left = turns
  const turn = (): void => {
    if (isOver()) return
    if (left-- > 0 && !isDue()) now.then(turn)
    else act()
  }
  turn()
}
