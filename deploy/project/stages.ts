/** Stages beside production: their names, and the places that package.json names for them. */
import type { Project } from '../contract/target.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { nearestDeclared } from './project.ts'

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
  if (RESERVED.includes(text))
    throw new UsageError(`"${text}" is not the name of a stage: without --stage, production is meant`)
  if (STAGE.test(text) && !text.includes('--')) return text
  throw new UsageError(
    `"${printable(text)}" is not the name of a stage: pass 1 to 20 lower case letters, digits and dashes, a letter first`,
  )
}

/**
 * What package.json names as the place of a stage on a platform: `"mayfly": { "stages": { "staging": { "vercel": "shop-staging" } } }`.
 * Throws `CliError` for anything else.
 */
export function declaredPlace(project: Project, stage: string, target: string): string | undefined {
  const stages = nearestDeclared(project, 'stages')
  const places = memberIn(stages, stage)
  const place = memberIn(places, target)
  const isObject = (value: unknown): boolean =>
    value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))
  if (isObject(stages) && isObject(places) && (place === undefined || isPlace(place))) return place
  throw new CliError(
    `"mayfly": { "stages": … } in package.json is not valid: write ${declaration(stage, target, `${project.name}-${stage}`)}`,
  )
}

/** What to write into package.json. */
export function declaration(stage: string, target: string, place: string): string {
  return `"mayfly": { "stages": ${JSON.stringify({ [stage]: { [target]: place } }).replaceAll(':', ': ')} } in package.json`
}

/**
 * Throws `CliError` if a stage is where production is. Case does not make another place: most platforms know none in names, and where one does,
 * two places that differ only in it would be taken for each other.
 *
 * @param canonical What a platform takes a name for, if it has several spellings.
 */
export function refuseProduction(
  stage: string,
  place: string,
  production: string | undefined,
  canonical: (name: string) => string = (name) => name,
): void {
  if (production === undefined) return
  const [one, other] = [place, production].map((name) => canonical(name.toLowerCase()))
  if (one === other)
    throw new CliError(
      `${stage} would be production's ${printable(place)}: name another place in package.json or in the platform's configuration`,
    )
}

function isPlace(value: unknown): value is string {
  return typeof value === 'string' && PLACE.test(value)
}

function memberIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as { [name: string]: unknown })[name]
    : undefined
}
