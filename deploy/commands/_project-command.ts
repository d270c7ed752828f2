/** The common part of the commands that work on one project and one of its platforms. */

import { join, resolve } from 'node:path'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { Target } from '../contract/target.ts'
import { chooseStage } from '../project/stages.ts'
import { freePort } from '../run/port.ts'
import { targetNames } from '../targets/all.ts'
import {
  oneTarget,
  type ParsedOptions,
  parseCommand,
  parsePath,
  parsePort,
} from '../terminal/command-line.ts'
import type { Help, HelpRow } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import { chooseEach, chooseProject, type ProjectTarget } from './_choose-project.ts'

/** Help for the options that all commands share. */
export const COMMON_HELP: readonly HelpRow[] = [
  ['entry', 'the file whose default export is the server; default src/server.ts, server.ts or src/index.ts'],
  ['--target', `${targetNames}; default: what package.json says, or the platform's own files`],
  ['--quiet', 'print only warnings and errors'],
]

// Accepts several in order to refuse them: `parseArgs` would silently use the last.
const COMMON_OPTIONS = { target: { type: 'string', multiple: true }, quiet: { type: 'boolean' } } as const

/** The option of commands that work on a stage: `projectCommand` resolves it, and the project has it. */
export const STAGE_OPTION = { stage: { type: 'string' } } as const

export const STAGE_HELP: HelpRow = ['--stage', 'of this stage; default MAYFLY_STAGE, or production']

/** Of a command that serves on this machine. */
export const LOCAL_STAGE_HELP: HelpRow = [
  '--stage',
  'as this stage: with MAYFLY_STAGE, and the variables of .env.<stage> first',
]

export interface ProjectCommand<Options extends ParseArgsOptionsConfig> {
  readonly name: string
  readonly help: Help
  readonly options: Options
  /** Arguments after `--`, for the platform's own tool. */
  readonly hasToolOptions?: boolean
  /** Resolves with the exit code. Rejects with `CliError`. */
  run(chosen: ProjectTarget, values: ParsedOptions<Options>, toolOptions: readonly string[]): Promise<number>
}

/** Returns the command's function. It rejects with `CliError`. */
export function projectCommand<const Options extends ParseArgsOptionsConfig>({
  name,
  help,
  options,
  hasToolOptions = false,
  run,
}: ProjectCommand<Options>): (args: string[]) => Promise<number> {
  return async (args) => {
    const dashes = hasToolOptions ? args.indexOf('--') : -1
    const line = parseProjectCommand(name, help, dashes < 0 ? args : args.slice(0, dashes), options)
    if (line === undefined) return 0
    const { positionals, targets, values } = line
    // Report an invalid target or port before a missing entry.
    const targetName = oneTarget(targets)
    checkServing(values)
    const chosen = chooseProject(positionals, targetName, stageOf(options, values))
    return run(chosen, values, dashes < 0 ? [] : args.slice(dashes + 1))
  }
}

export interface EachTargetCommand<Options extends ParseArgsOptionsConfig>
  extends Omit<ProjectCommand<Options>, 'run' | 'hasToolOptions'> {
  /** Resolves with the exit code. Rejects with `CliError`. */
  run(chosen: readonly [ProjectTarget, ...ProjectTarget[]], values: ParsedOptions<Options>): Promise<number>
}

/** The same for a command that works on all platforms of the project at once, or on those that are given. */
export function eachTargetCommand<const Options extends ParseArgsOptionsConfig>({
  name,
  help,
  options,
  run,
}: EachTargetCommand<Options>): (args: string[]) => Promise<number> {
  return async (args) => {
    const line = parseProjectCommand(name, help, args, options)
    return line === undefined
      ? 0
      : run(chooseEach(line.positionals, line.targets, stageOf(options, line.values)), line.values)
  }
}

/** Of a command that takes `STAGE_OPTION`. */
function stageOf(options: ParseArgsOptionsConfig, { stage }: { stage?: unknown }): string | undefined {
  return 'stage' in options ? chooseStage(stage as string | undefined) : undefined
}

/** Undefined if only the help was wanted. */
function parseProjectCommand<const Options extends ParseArgsOptionsConfig>(
  name: string,
  help: Help,
  args: string[],
  options: Options,
): { positionals: string[]; targets: string[] | undefined; values: ParsedOptions<Options> } | undefined {
  const line = parseCommand(name, help, args, { ...COMMON_OPTIONS, ...options })
  if (line === undefined) return undefined
  const {
    target: targets,
    quiet,
    json,
  } = line.values as { target?: string[]; quiet?: boolean; json?: boolean }
  if (quiet) terminal.beQuiet()
  if (json) terminal.hideProgress()
  return { positionals: line.positionals, targets, values: line.values as ParsedOptions<Options> }
}

/** The folder that a build goes to. */
export function outFolder({ project, targetName }: ProjectTarget, out: string | undefined): string {
  return resolve(project.cwd, out ?? join('dist', targetName))
}

/** The options of a command that serves. */
export const SERVING_OPTIONS = { port: { type: 'string' }, path: { type: 'string' } } as const

export const SERVING_HELP: readonly HelpRow[] = [
  ['--port', 'default 8787 for cloudflare, 3000 for most others; 0 picks a free one'],
  ['--path', 'the path of the MCP endpoint; default /mcp'],
]

interface ServingValues {
  readonly port?: string | undefined
  readonly path?: string | undefined
}

/** Where to serve; port 0 is any free one. Rejects with `UsageError` for an invalid port or path, and with `CliError` if it is in use. */
export async function whereToServe(
  values: ServingValues,
  { defaultPort }: Pick<Target, 'defaultPort'>,
): Promise<{ port: number; path: string | undefined }> {
  const { port, path } = checkServing(values)
  return { port: port === 0 ? 0 : await freePort(port ?? defaultPort), path }
}

function checkServing({ port, path }: ServingValues): { port: number | undefined; path: string | undefined } {
  return {
    port: port === undefined ? undefined : parsePort(port),
    path: path === undefined ? undefined : parsePath(path),
  }
}
