/** `mayfly migrate`: runs the project's script that creates the tables of its stores, for production or a stage. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadEnvFiles } from '../project/env-files.ts'
import { refuseForeign, refusePlanted } from '../project/owner.ts'
import { chooseStage, stageOption } from '../project/stages.ts'
import { deploymentFiles } from '../project/variable-files.ts'
import { interruptedCode, onInterrupt } from '../run/ending.ts'
import { startProcessGroup } from '../run/process-group.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { parseCommand } from '../terminal/command-line.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import { STAGE_HELP } from './_project-command.ts'

const HELP: Help = {
  usage: ['mayfly migrate [script] [--stage <name>] [--quiet]'],
  options: [
    [
      'script',
      'the module that creates the tables; default migrate.mjs, which mayfly init --with tasks writes',
    ],
    STAGE_HELP,
    ['--quiet', "print only the script's output, warnings and errors"],
  ],
  text: [
    'Runs it on Node, with the variables that a deployment would take. The exit code is that of the script.',
  ],
  examples: ['mayfly migrate', 'mayfly migrate --stage staging'],
  page: 'deploy/stages.md',
}

const DEFAULT_SCRIPT = 'migrate.mjs'

/** The script's exit code. Throws `CliError` without one. */
export async function migrate(args: string[]): Promise<number> {
  const line = parseCommand('migrate', HELP, args, {
    stage: { type: 'string' },
    quiet: { type: 'boolean' },
  })
  if (line === undefined) return 0
  const { values, positionals } = line
  if (values.quiet) terminal.beQuiet()
  if (positionals.length > 1)
    throw new UsageError(`mayfly migrate runs one script: got ${printable(positionals.join(', '))}`)
  const stage = chooseStage(values.stage)
  const cwd = process.cwd()
  refuseForeign(cwd)
  const [named = DEFAULT_SCRIPT] = positionals
  const script = resolve(cwd, named)
  if (!existsSync(script))
    throw new CliError(
      `there is no ${printable(named)}: name the script that creates the tables, as in mayfly migrate <script>${stageOption(stage)}`,
    )
  refusePlanted(script)
  loadEnvFiles({ cwd, entry: script, stage }, deploymentFiles(stage))
  const running = startProcessGroup([script], { cwd, stdio: 'inherit' })
  const interrupted = new Promise<number>((resolve) => onInterrupt((how) => resolve(interruptedCode(how))))
  const code = await Promise.race([running.exited, interrupted])
  await running.stop()
  return code
}
