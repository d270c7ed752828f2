/** What `mayfly deploy` says and asks before it changes a place, and what it refuses to replace. */
import type { Place } from '../contract/place.ts'
import type { DeployStep } from '../contract/target.ts'
import type { DeployTool } from '../targets/deploy-tool.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { isOnTerminal, prompt, refuseUnnamed, stateOf } from './_released-place.ts'

export interface Consent {
  /** `--yes`: do not ask. */
  readonly isAsked: boolean
  readonly isPreview: boolean
  readonly withinMs: number
}

/**
 * Looks up what is at the place, says in one line what the deployment will change, and asks on a terminal. Resolves with a step that creates
 * the place, if one is needed. Throws `CliError` if the user says no, and without a terminal for a place that may be another project's.
 */
export async function settlePlace(
  place: Place,
  tool: DeployTool,
  { isAsked, isPreview, withinMs }: Consent,
): Promise<DeployStep | undefined> {
  const state = await stateOf(place, tool, withinMs)
  const what = describePlace(place, isPreview)
  const isTerminal = isOnTerminal()
  if (!isTerminal || !isAsked) refuseDoubtful(place, state, isAsked)
  terminal.note(`${what}: ${EFFECTS[state ?? 'unknown']}`)
  if (isTerminal && isAsked) await confirm(`mayfly: ${what}. Go on? (y/N): `)
  if (state === 'new' && place.namedBy === undefined)
    terminal.note(`so that the next deployment finds it: ${place.claim}`)
  return state === 'new' ? place.create : undefined
}

/**
 * What needs no answer of the platform, so that a dry run does the same: warns of stores that stages share. Throws `CliError` for a stage that
 * nothing names, unless the user is asked: each deployment would decide differently whether the place is there already.
 */
export function readPlace(place: Place, { isAsked }: { readonly isAsked: boolean }): void {
  for (const line of place.warnings ?? []) terminal.warn(line)
  if (place.stage !== undefined && !(isAsked && isOnTerminal())) refuseUnnamed(place)
}

const EFFECTS = {
  new: 'nothing is there yet',
  exists: 'it exists, and gets a new version',
  unknown: 'it was not looked up, and is replaced if it exists',
}

/** `deploys production: the Worker shop in acc, named by wrangler.toml`. */
export function describePlace({ stage, kind, name, account, namedBy }: Place, isPreview: boolean): string {
  const where = account === undefined ? '' : ` in ${account}`
  const by = namedBy === undefined ? 'named after the package' : `named by ${namedBy}`
  const what = isPreview ? 'a preview' : (stage ?? 'production')
  return printable(`deploys ${what}: the ${kind} ${name}${where}, ${by}`)
}

/** Throws `CliError` for a place that only its name makes this project's. `--yes` answers for production, which is named after the package. */
function refuseDoubtful(
  { namedBy, kind, name, claim, hasLinks = false }: Place,
  state: 'new' | 'exists' | undefined,
  isAsked: boolean,
): void {
  if (namedBy !== undefined) return
  const shown = printable(`${kind} ${name}`)
  if (state === 'new') {
    if (!isAsked) return
    throw new CliError(`there is no ${shown} yet: ${claim}, or pass --yes to create it`)
  }
  // Not for what another project may use.
  if (!isAsked && !hasLinks) return
  const found = state === 'exists' ? 'exists already' : 'may exist already'
  const others = hasLinks ? '' : ', or pass --yes'
  throw new CliError(`the ${shown} ${found}, and may be another project's: if it is yours, ${claim}${others}`)
}

async function confirm(question: string): Promise<void> {
  if (/^y(?:es)?$/i.test(await prompt(question))) return
  throw new CliError('nothing was deployed')
}
