/** The query of an operator's request: names that are known, each once. */

/** What `list` of an admin takes. */
export interface ListFilters<Filters extends object> {
  readonly numbers: readonly string[]
  readonly texts: readonly string[]
  /** @throws for filters that `list` refuses. */
  checkList(filters: Filters): void
}

/**
 * What an action is asked for: the filters of `list`, or the value of any other.
 *
 * @throws TypeError for a name that `action` does not take, for one that is repeated, and for what `checkList` refuses.
 */
export function readAsked<Filters extends object>(
  action: string,
  query: URLSearchParams,
  { numbers, texts, checkList }: ListFilters<Filters>,
): Filters | string | null {
  const known = action === 'list' ? [action, ...numbers, ...texts] : [action]
  const names = [...query.keys()]
  const wrong = names.find((name, index) => !known.includes(name) || names.indexOf(name) !== index)
  if (wrong !== undefined)
    throw new TypeError(
      `"${wrong.slice(0, 40)}" is unknown or repeated: ${action} takes ${known.join(', ')}.`,
    )
  if (action !== 'list') return query.get(action)
  const given = [...query].filter(([name]) => name !== action)
  const asked = Object.fromEntries(
    given.map(([name, text]) => [name, numbers.includes(name) ? toNumber(text) : text]),
  ) as Filters
  checkList(asked)
  return asked
}

/** `Number('')` is 0. */
function toNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}
