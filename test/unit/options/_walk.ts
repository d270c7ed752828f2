/** Adds one unknown name at each depth of valid options. */

/** One function, or one method, that takes options. */
export interface Taker {
  /** Calls it; may reject. What it starts must be ended. */
  readonly call: (options: never) => unknown
  /** Valid options, with every object that can be nested in them. */
  readonly options: object
  /** Objects in `options` that take any name, by path: why. */
  readonly open?: { readonly [path: string]: string }
  /** Objects that take names of others, but refuse this misspelt one of ours. */
  readonly misspelt?: { readonly [path: string]: string }
  /** Valid options would start something that does not end, such as reading stdin. */
  readonly onlyRefusals?: true
}

/** What an entry point exports, by name. A string says why there are no options. */
export type Takers = { readonly [name: string]: Taker | readonly Taker[] | string }

export const UNKNOWN = 'notAnOption'

export interface Place {
  /** `http`, `tools.one.mcp`; empty for the options themselves. */
  readonly path: string
  /** The options with `name` there. */
  with(name: string, value?: unknown): object
}

/** Every plain object in `options`. Objects in lists have the path of their list. */
export function placesIn(options: object, path = ''): Place[] {
  const own: Place = { path, with: (name, value = 1) => ({ ...options, [name]: value }) }
  const inner = Object.entries(options).flatMap(([member, value]) => {
    const at = path === '' ? member : `${path}.${member}`
    const [first, ...more] = Array.isArray(value) ? (value as unknown[]) : [value]
    if (!isPlain(first)) return []
    const inside = placesIn(first, at)
    return inside.map((place) => ({
      path: place.path,
      with: (name: string, to?: unknown) => ({
        ...options,
        [member]: Array.isArray(value) ? [place.with(name, to), ...more] : place.with(name, to),
      }),
    }))
  })
  return [own, ...inner]
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Names for which the error of an unknown option says that they exist: the sample need not have them all. */
export function namesIn(message: string): string[] {
  return /options are (.*)\.$/.exec(message)?.[1]?.split(', ') ?? []
}

/** What a careless user or an environment variable gives for an option, by what the refusal of NaN says that it must be. */
export function wrongValues(refusal: string): unknown[] {
  const [, expected = ''] = /^"[\w.]+"(?: of .*)? must be (.*?)(?:, not NaN)?\.$/.exec(refusal) ?? []
  if (/^a.* or an? /.test(expected)) return [5, null, true]
  if (expected === 'true or false') return ['false', 'no', '', 0, 1, null, {}]
  if (/^a number from -?\d+(?: to \d+)?$/.test(expected)) return ['5', '', -1e308, null, true, [5]]
  if (/^a number above 0(?:, up to \d+)?$/.test(expected)) return ['5', '', -1e308, 0, null, true, [5]]
  if (expected === 'a number') return ['5', null, [5]]
  if (expected === 'a string') return [5, null, ['a'], {}]
  if (expected === 'a function') return ['f', {}, null, true]
  if (expected === 'a list of strings') return ['a', [5], [undefined], {}, null]
  if (expected === 'an object') return ['a', 5, null]
  if (!/^(?:one of )?(?:"[^"]+"(?:, )?)+$/.test(expected)) return []
  const choices = Array.from(expected.matchAll(/"([^"]+)"/g), ([, choice]) => choice!)
  return choices.flatMap((choice) => [choice.slice(1), `${choice}s`, [choice], null])
}

/** The error of a call, or undefined. */
export async function errorOf({ call }: Pick<Taker, 'call'>, options: object): Promise<Error | undefined> {
  try {
    await call(options as never)
    return undefined
  } catch (error) {
    return error as Error
  }
}
