/** The common part of the commands that work on a deployed server: the platform's tool, and what they say and ask before. */
import { createInterface } from 'node:readline/promises'
import type { Place } from '../contract/place.ts'
import type { DeployStep, Project, Target } from '../contract/target.ts'
import {
  ask,
  type DeployTool,
  findTool,
  type Ran,
  type RunOptions,
  requireLogin,
  runStep,
} from '../targets/deploy-tool.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { withProgress } from '../terminal/progress.ts'
import { terminal } from '../terminal/terminal.ts'

type Named = Parameters<typeof requireLogin>[1]['tool']

/** Ten minutes: a stack of CloudFormation takes that long. */
const STEP_TIMEOUT_MS = 600_000

export interface OpenOptions {
  /** Options that `whoami` needs, too. */
  readonly loginOptions?: readonly string[] | undefined
  /** How long `whoami` may take. Default: that of `requireLogin`. */
  readonly withinMs?: number
}

/** Throws `CliError` if it is not installed, or the user is not logged in. */
export async function openTool(
  named: Named,
  { cwd }: Project,
  { loginOptions = [], withinMs }: OpenOptions = {},
): Promise<DeployTool> {
  const tool = findTool(named, cwd)
  if (tool === undefined) throw new CliError(notInstalled(named))
  await requireLogin(tool, { tool: { ...named, whoami: [...named.whoami, ...loginOptions] } }, cwd, withinMs)
  return tool
}

/** One line. */
export function notInstalled({ name, install }: Named): string {
  return `${name} is not installed: run ${install}`
}

/**
 * Asks what is there. Undefined if the platform does not tell. Throws `CliError` for a stage at production's place, and if only the answer
 * would tell that it is not.
 */
export async function stateOf(
  place: Place,
  tool: DeployTool,
  withinMs?: number,
): Promise<'new' | 'exists' | undefined> {
  const { lookUp } = place
  if (lookUp === undefined) return undefined
  const answer = await ask(lookUp.step, tool, withinMs === undefined ? {} : { withinMs })
  const state = answer.isHung ? undefined : lookUp.read(answer)
  if (state !== undefined || lookUp.isDecisive !== true) return state
  const said = answer.isHung ? 'it did not answer in time' : answer.output.trim().slice(0, 200)
  throw new CliError(
    `the platform's tool does not tell whether the ${showPlace(place)} is production's, so nothing was changed: ${printable(said) || 'it printed nothing'}`,
  )
}

/** Throws `CliError` if nothing is there; what cannot be looked up is taken to be there. */
export async function refuseMissing(place: Place, tool: DeployTool): Promise<void> {
  if ((await stateOf(place, tool)) === 'new')
    throw new CliError(`there is no ${showPlace(place)}: deploy it first, or name another place`)
}

/** Throws `CliError` for a place that only the package's name makes this project's. */
export function refuseUnnamed(place: Place): void {
  if (place.namedBy !== undefined) return
  throw new CliError(
    `the ${place.kind} ${printable(place.name)} may be another project's: if it is to be yours, ${place.claim}`,
  )
}

/** The same, as `mayfly deploy` does without a terminal: a Worker or a stack of production that has the package's name is taken for its own. */
export function refuseDoubtful(place: Place): void {
  if (place.stage !== undefined || place.hasLinks === true) refuseUnnamed(place)
}

/** Runs one of these steps, says its title, and on a terminal how far it is while it takes long. */
export function runShown(
  step: DeployStep,
  all: readonly DeployStep[],
  tool: DeployTool,
  options: RunOptions,
): Promise<Ran> {
  terminal.note(step.title)
  return withProgress((show) => {
    show(step.title, `step ${all.indexOf(step) + 1} of ${all.length}`)
    return runStep(step, tool, options)
  })
}

/** The exit code of the first that fails, which it reports. */
export async function runAll(
  steps: readonly DeployStep[],
  tool: DeployTool,
  hidden: readonly string[] = [],
): Promise<number> {
  for (const step of steps) {
    const { code, isHung = false } = await runShown(step, steps, tool, { hidden, withinMs: STEP_TIMEOUT_MS })
    if (isHung) {
      terminal.warn(
        `${step.title} did not end within ${STEP_TIMEOUT_MS / 60_000} minutes: see the output above`,
      )
      return 1
    }
    if (code === 0) continue
    terminal.warn(`${step.title} failed with exit code ${code}: see the output above`)
    return code
  }
  return 0
}

export function isOnTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** What the user types. */
export async function prompt(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

/** `Worker shop-staging (acc, staging)`. */
export function showPlace({ kind, name, account, stage }: Place): string {
  const where = [account, stage ?? 'production'].filter((part) => part !== undefined).join(', ')
  return printable(`${kind} ${name} (${where})`)
}

/** For `--json`. */
export function placeAsJson({ kind, name, account, stage = 'production' }: Place, target: string): object {
  return { target, stage, place: { kind, name, account: account ?? null } }
}

/** Throws `CliError` for targets without a platform. */
export function requirePlatform<Name extends 'place' | 'secretStore' | 'rollback' | 'removal'>(
  target: Target,
  name: Name,
): NonNullable<Target[Name]> {
  const found = target[name]
  if (found !== undefined) return found
  throw new CliError(`${target.title} runs on your own machine: Mayfly has not deployed anything there`)
}
