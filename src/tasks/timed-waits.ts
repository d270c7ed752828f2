/** Waits that end at a time. Those of one turn of the event loop are decided together, so that the earliest comes first. */
import type { Replay } from '../interaction/replay.ts'

interface Wait {
  readonly decision: string
  readonly over: () => number | undefined
  readonly decide: () => boolean
  readonly resolve: (isOver: boolean) => void
}

function byTime(
  { at: one = Infinity }: { at: number | undefined },
  { at: other = Infinity }: { at: number | undefined },
): number {
  return one === other ? 0 : one - other
}

/**
 * Decides whether and when a wait is over, for all waits of this turn by their time. Resolves with false if it is not over in this run.
 *
 * @param over when it ended, in milliseconds since the epoch; undefined: it goes on.
 * @param decide returns whether no other run could decide otherwise.
 */
export type Reach = (
  decision: string,
  over: () => number | undefined,
  decide: () => boolean,
) => Promise<boolean>

export function createReach(replay: () => Replay): Reach {
  /** Waits to decide in this turn. */
  const waits: Wait[] = []
  const decideAll = (): void => {
    const found = waits.splice(0).map((wait) => ({ ...wait, at: wait.over() }))
    for (const { decision, at, decide, resolve } of found.sort(byTime)) {
      if (at !== undefined) replay().decisions.made(decision, decide())
      resolve(at !== undefined)
    }
  }
  return (decision, over, decide) => {
    const { decisions } = replay()
    return decisions.count(async () => {
      if (!decisions.has(decision)) {
        await decisions.replayed(decision)
        const isOver = await new Promise<boolean>((resolve) => {
          waits.push({ decision, over, decide, resolve })
          replay().during(() => new Promise((next) => setTimeout(next, 0)).then(decideAll))
        })
        if (!isOver) return false
      }
      await decisions.turn(decision)
      return true
    })
  }
}
