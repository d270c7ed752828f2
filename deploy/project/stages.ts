/** Stages beside production: which one a command works on, and the places that package.json names for them. */
import { textOf } from '../../src/definition/error-text.ts'
import { requireStage, STAGE_VARIABLE } from '../../src/definition/stage.ts'
import { nearest } from '../../src/definition/unknown-option.ts'
import type { Project } from '../contract/target.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { manifestIn, nearestDeclared, projectFolders } from './project.ts'

export { STAGE_VARIABLE }

/** What a preview is told, where its variables are its own: it does not take the tables, queues and keys of production. */
export const PREVIEW_STAGE = 'preview'

/** The variables that a deployment sets, for platforms on which a stage is a variable like the others. */
export function withStage(
  secrets: ReadonlyMap<string, string>,
  stage: string | undefined,
): ReadonlyMap<string, string> {
  return stage === undefined ? secrets : new Map([...secrets, [STAGE_VARIABLE, stage]])
}

/** No option of a tool, and nothing that a tool would read as a path. */
const PLACE = /^[\w@][\w@.:-]{0,99}$/

/** Throws `UsageError` for what is not the name of a stage, by the rule that the server has for `MAYFLY_STAGE`. */
export function parseStage(text: string, source = '--stage'): string {
  const wrong = wrongName(text, source)
  if (wrong !== undefined) throw new UsageError(wrong)
  return text
}

/** Undefined for the name of a stage. */
function wrongName(text: string, source: string): string | undefined {
  try {
    requireStage(text, source)
    return undefined
  } catch (error) {
    return textOf(error).replace(/\.$/, '')
  }
}

/**
 * The stage that a command works on: that of `--stage`, otherwise of the variable `MAYFLY_STAGE`; undefined for production. What the command
 * starts has it in its environment. Throws `UsageError` for an invalid one.
 */
export function chooseStage(given: string | undefined): string | undefined {
  const source = given === undefined ? STAGE_VARIABLE : '--stage'
  const named = given ?? (process.env[STAGE_VARIABLE] || undefined)
  if (named === undefined) return undefined
  const stage = parseStage(named, source)
  process.env[STAGE_VARIABLE] = stage
  return stage
}

/** For commands that are printed, with a blank before it: ` --stage staging`. Empty for production. */
export function stageOption(stage: string | undefined): string {
  return stage === undefined ? '' : ` --stage ${stage}`
}

/** The file that holds what only this stage, or production, has: `.env.staging`, or `.env`. */
export function ownFile(stage: string | undefined): string {
  return stage === undefined ? '.env' : `.env.${stage}`
}

/** The platforms that have places. A place on Vercel's or Netlify's edge runtime is one of Vercel or Netlify. */
export const PLACE_PLATFORMS = ['cloudflare', 'vercel', 'netlify', 'deno', 'supabase', 'lambda'] as const

export type PlacePlatform = (typeof PLACE_PLATFORMS)[number]

/** What `"mayfly"` in package.json may contain. */
const MEMBERS = ['targets', 'stages', 'cron', 'tasks', 'grants', 'events']

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
    const wrong = wrongName(name, `the stage "${printable(name)}"`)
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
