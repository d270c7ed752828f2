/** Stages beside production: their names, and the places that package.json names for them. */
import { nearest } from '../../src/definition/unknown-option.ts'
import type { Project } from '../contract/target.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { manifestIn, nearestDeclared, projectFolders } from './project.ts'

/** Tells the server its stage, so that it names tables and queues of its own. */
export const STAGE_VARIABLE = 'MAYFLY_STAGE'

/** The variables that a deployment sets, for platforms on which a stage is a variable like the others. */
export function withStage(
  secrets: ReadonlyMap<string, string>,
  stage: string | undefined,
): ReadonlyMap<string, string> {
  return stage === undefined ? secrets : new Map([...secrets, [STAGE_VARIABLE, stage]])
}

/** Short, so that the project's name and the stage's fit into a name of every platform. */
const STAGE = /^[a-z](?:[a-z\d-]{0,18}[a-z\d])?$/

/** `<project>-secrets` and `<project>-github` are stacks of production. */
const RESERVED = ['production', 'prod', 'secrets', 'github']

/** No option of a tool, and nothing that a tool would read as a path. */
const PLACE = /^[\w@][\w@.:-]{0,99}$/

/** Throws `UsageError` for anything but a short name in lower case. */
export function parseStage(text: string): string {
  const wrong = wrongName(text)
  if (wrong !== undefined) throw new UsageError(wrong)
  return text
}

/** Undefined for the name of a stage. */
function wrongName(text: string): string | undefined {
  if (RESERVED.includes(text))
    return `"${text}" is not the name of a stage: without --stage, production is meant`
  if (STAGE.test(text) && !text.includes('--')) return undefined
  return `"${printable(text)}" is not the name of a stage: use 1 to 20 lower case letters, digits and dashes, a letter first`
}

/** The platforms that have places. A place on Vercel's or Netlify's edge runtime is one of Vercel or Netlify. */
export const PLACE_PLATFORMS = ['cloudflare', 'vercel', 'netlify', 'deno', 'supabase', 'lambda'] as const

export type PlacePlatform = (typeof PLACE_PLATFORMS)[number]

/** What `"mayfly"` in package.json may contain. */
const MEMBERS = ['targets', 'stages', 'cron', 'tasks']

interface Stages {
  readonly [stage: string]: { readonly [platform: string]: unknown }
}

/**
 * What package.json names as the place of a stage on a platform: `"mayfly": { "stages": { "staging": { "vercel": "shop-staging" } } }`.
 * Throws `CliError` for anything else.
 */
export function declaredPlace(project: Project, stage: string, target: PlacePlatform): string | undefined {
  const place = memberIn(memberIn(declaredStages(project, stage, target), stage), target)
  return place as string | undefined
}

/** All of them. `stage` and `target` are for the example of what to write. */
function declaredStages(project: Project, stage: string, target: PlacePlatform): Stages {
  for (const folder of projectFolders(project)) {
    const { mayfly } = (manifestIn(folder) ?? {}) as { mayfly?: unknown }
    if (isObject(mayfly)) refuseUnknownNames(mayfly, MEMBERS, '"mayfly"', 'members')
  }
  const stages = nearestDeclared(project, 'stages') ?? {}
  const invalid = new CliError(
    `"mayfly": { "stages": … } in package.json is not valid: write ${declaration(stage, target, `${project.name}-${stage}`)}`,
  )
  if (!isObject(stages)) throw invalid
  for (const [name, places] of Object.entries(stages)) {
    const wrong = wrongName(name)
    if (wrong !== undefined) throw new CliError(`"mayfly": { "stages": … } in package.json: ${wrong}`)
    if (!isObject(places)) throw invalid
    refuseUnknownNames(places, PLACE_PLATFORMS, `"stages": { "${name}": … }`, 'platforms')
    if (!Object.values(places).every(isPlace)) throw invalid
  }
  return stages as Stages
}

/** Throws `CliError` for a member that nothing reads: the place that it was to name would be taken from somewhere else. */
function refuseUnknownNames(given: object, known: readonly string[], where: string, what: string): void {
  const name = Object.keys(given).find((one) => !known.includes(one))
  if (name === undefined) return
  const near = nearest(name, known)
  const meant = near === undefined ? 'its' : `did you mean "${near}"? Its`
  throw new CliError(
    `${where} in package.json has no "${printable(name)}": ${meant} ${what} are ${known.join(', ')}`,
  )
}

/** What to write into package.json. */
export function declaration(stage: string, target: string, place: string): string {
  return `"mayfly": { "stages": ${JSON.stringify({ [stage]: { [target]: place } }).replaceAll(':', ': ')} } in package.json`
}

export interface Neighbours {
  readonly project: Project
  readonly target: PlacePlatform
  /** Undefined: production. */
  readonly stage: string | undefined
  /** What production is called, as far as it is known. */
  readonly production: readonly (string | undefined)[]
  /** What a platform takes a name for, if it has several spellings. */
  readonly canonical?: (name: string) => string
}

/**
 * Throws `CliError` if the place with these names is production's and a stage's, or that of two stages in package.json. Case does not make
 * another place: most platforms know none in names, and where one does, two places that differ only in it would be taken for each other.
 */
export function refuseShared(
  names: readonly string[],
  { project, target, stage, production, canonical = (name) => name }: Neighbours,
): void {
  const own = names.map((name) => canonical(name.toLowerCase()))
  const isOwn = (name: string | undefined): name is string =>
    name !== undefined && own.includes(canonical(name.toLowerCase()))
  const ofProduction = stage === undefined ? undefined : production.find(isOwn)
  if (ofProduction !== undefined)
    throw new CliError(
      `${stage} would be production's ${printable(ofProduction)}: name another place in package.json or in the platform's configuration`,
    )
  const stages = declaredStages(project, stage ?? 'staging', target)
  for (const [other, { [target]: place }] of Object.entries(stages)) {
    if (other === stage || !isOwn(place as string | undefined)) continue
    throw new CliError(
      stage === undefined
        ? `production would be the ${place} of ${other}: deploy with --stage ${other}, or name another place for ${other} in package.json`
        : `${stage} would be the ${place} of ${other}: name another place for one of them in package.json`,
    )
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPlace(value: unknown): value is string {
  return typeof value === 'string' && PLACE.test(value)
}

function memberIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as { [name: string]: unknown })[name]
    : undefined
}
