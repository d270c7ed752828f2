/** The secrets that a platform keeps for a deployed server: `mayfly secrets`. */
import type { DeployStep } from './step.ts'

export interface SecretStore {
  /** Options that the tool's `whoami` needs, too. */
  readonly loginOptions?: readonly string[]
  /** When a change reaches the server, as the end of a sentence: `at once`. */
  readonly takesEffect: string
  /** Run first, so that the tool's commands in the folder work on the right place. */
  readonly link?: DeployStep
  /** Prints what the platform tells about its secrets, which is not shown: it may hold values. Without it, `set` and `remove` get `''`. */
  readonly list: DeployStep | Unlisted
  /** The secrets in it, in any order. Undefined if it cannot be read. */
  read(told: string): readonly StoredSecret[] | undefined
  /** `told` is what `list` printed, for platforms that store all secrets as one value. */
  set(secrets: ReadonlyMap<string, string>, told: string): readonly DeployStep[]
  /** Removes secrets that `read` found. */
  remove(names: readonly string[], told: string): readonly DeployStep[]
}

/** The platform's tool has no list of names. */
export interface Unlisted {
  /** Why, and what to do instead. */
  readonly reason: string
}

export interface StoredSecret {
  readonly name: string
  /** When its value was last written, in ISO 8601. Undefined if the platform does not tell. */
  readonly changed: string | undefined
}

export interface SecretStoreOptions {
  /** Undefined: production. */
  readonly stage?: string | undefined
  /** Everything after `--`, for the platform's own tool. */
  readonly extra: readonly string[]
  /** An empty folder, which is removed afterwards. */
  readonly folder: string
}

/** Reads the JSON in what a tool printed, which may be preceded by other lines. Undefined if there is none. */
export function readJson(told: string): unknown {
  for (const start of [0, told.search(/^[[{]/m)]) {
    try {
      if (start >= 0) return JSON.parse(told.slice(start))
    } catch {
      // Tried from the next place.
    }
  }
  return undefined
}

/** The members of the JSON object in what a tool printed, which other lines may precede and follow. */
export function readObject(told: string): { readonly [member: string]: unknown } {
  const found = readJson(told.slice(told.indexOf('{'), told.lastIndexOf('}') + 1))
  return typeof found === 'object' && found !== null ? (found as { [member: string]: unknown }) : {}
}

/** The secrets of a list of objects; undefined if one of them has no name. `changed` returns milliseconds or a date as text. */
export function secretsIn(
  list: unknown,
  { name, changed }: { readonly name: string; readonly changed?: readonly string[] },
): readonly StoredSecret[] | undefined {
  if (!Array.isArray(list)) return undefined
  const found: StoredSecret[] = []
  for (const one of list as { [member: string]: unknown }[]) {
    const named = one?.[name]
    if (typeof named !== 'string') return undefined
    const times = (changed ?? []).map((member) => isoOf(one[member])).filter((time) => time !== undefined)
    found.push({ name: named, changed: times[0] })
  }
  return found
}

function isoOf(time: unknown): string | undefined {
  const date = typeof time === 'number' || typeof time === 'string' ? new Date(time) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
