/** The query of an operator's request: names that are known, each once. */
import { textOf } from '../../definition/error-text.ts'

/** The request cannot be understood, as its message says. */
export class QueryError extends Error {}

/** @throws QueryError for a name that `action` does not take, and for one that is repeated. */
export function checkNames(action: string, query: URLSearchParams, filters: readonly string[]): void {
  const known = [action, ...filters]
  const names = [...query.keys()]
  const wrong = names.find((name, index) => !known.includes(name) || names.indexOf(name) !== index)
  if (wrong === undefined) return
  throw new QueryError(`"${wrong.slice(0, 40)}" is unknown or repeated: ${action} takes ${known.join(', ')}.`)
}

/** @throws QueryError for what `check` refuses. */
export function readFilters<Options extends object>(
  query: URLSearchParams,
  numbers: readonly string[],
  texts: readonly string[],
  check: (options: Options) => void,
): Options {
  const given = [...numbers, ...texts].filter((name) => query.has(name))
  const options = Object.fromEntries(
    given.map((name) => {
      const text = query.get(name)!
      return [name, numbers.includes(name) ? toNumber(text) : text]
    }),
  ) as Options
  try {
    check(options)
  } catch (error) {
    throw new QueryError(textOf(error))
  }
  return options
}

/** `Number('')` is 0. */
function toNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}
