/** A page of due tasks in which an owner has only a share, as long as others wait. */

export interface DueTask {
  readonly id: string
  readonly owner: string
  readonly dueAt: number
}

/**
 * Takes the earliest tasks, at most `perOwner` of each owner. What is left of the page goes to the earliest of the others.
 *
 * @param page The `limit` earliest tasks, without those of these owners. Called once, unless an owner has more than its share.
 */
export async function fairPage(
  limit: number,
  perOwner: number,
  page: (without: readonly string[]) => PromiseLike<readonly DueTask[]> | readonly DueTask[],
): Promise<string[]> {
  const taken = new Map<string, DueTask>()
  const others: DueTask[] = []
  const counts = new Map<string, number>()
  const full: string[] = []
  for (let before = -1; before < full.length && taken.size < limit; ) {
    before = full.length
    const found = await page([...full])
    for (const task of found) {
      if (taken.has(task.id) || taken.size >= limit) continue
      const count = (counts.get(task.owner) ?? 0) + 1
      if (count > perOwner) {
        others.push(task)
        continue
      }
      counts.set(task.owner, count)
      taken.set(task.id, task)
      if (count >= perOwner) full.push(task.owner)
    }
    if (found.length < limit) break
  }
  const rest = others.slice(0, limit - taken.size)
  return [...taken.values(), ...rest].sort((one, other) => one.dueAt - other.dueAt).map(({ id }) => id)
}

/** The same, of tasks that are all known. */
export function fairPageOf(tasks: readonly DueTask[], limit: number, perOwner: number): Promise<string[]> {
  const sorted = [...tasks].sort((one, other) => one.dueAt - other.dueAt)
  return fairPage(limit, perOwner, (without) =>
    sorted.filter(({ owner }) => !without.includes(owner)).slice(0, limit),
  )
}
