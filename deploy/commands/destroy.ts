/** `mayfly destroy --stage`: removes a stage from its platform, with the platform's own CLI. */

import { createTempFolder } from '../build/work-folder.ts'
import type { Removal } from '../contract/release.ts'
import { parseStage } from '../project/stages.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { projectCommandLine } from './_next.ts'
import { COMMON_HELP, projectCommand } from './_project-command.ts'
import {
  isOnTerminal,
  openTool,
  prompt,
  refuseMissing,
  refuseUnnamed,
  requirePlatform,
  runAll,
  showPlace,
} from './_released-place.ts'
import { storedNames } from './_stored-names.ts'

const HELP: Help = {
  usage: [
    'mayfly destroy [entry] --stage <stage> [--target <name>] [--confirm <place>] [--quiet] [-- <for the tool>...]',
  ],
  options: [
    ...COMMON_HELP,
    ['--stage', 'the stage to remove; production is not removed by Mayfly'],
    ['--confirm', 'without a terminal: what you would type on one, the name of the place'],
    ['--', "pass everything after it to the platform's own CLI"],
  ],
  text: ['Lists what is removed and what stays, and asks for the name of the place.'],
  examples: ['mayfly destroy --stage staging'],
  page: 'deploy/stages.md',
}

/** Exit code of the platform's tool. Throws `CliError` if the user does not confirm, or nothing is there. */
export const destroy = projectCommand({
  name: 'destroy',
  help: HELP,
  options: { stage: { type: 'string' }, confirm: { type: 'string' } },
  hasToolOptions: true,
  run: async (chosen, { stage, confirm }, extra) => {
    if (stage === undefined)
      throw new UsageError(
        'no stage is given: pass --stage <stage>; docs/deploy/stages.md says how to remove production',
      )
    const { folder, dispose } = createTempFolder()
    try {
      return await remove(chosen, { stage: parseStage(stage), confirm, extra, folder })
    } finally {
      dispose()
    }
  },
})

interface Asked {
  readonly stage: string
  readonly confirm: string | undefined
  readonly extra: readonly string[]
  readonly folder: string
}

async function remove(
  { project, target, targetName }: ProjectTarget,
  { confirm, ...asked }: Asked,
): Promise<number> {
  const place = requirePlatform(target, 'place')(project, asked)
  const { tool: named, ...removal } = requirePlatform(target, 'removal')(project, asked)
  if (confirm !== undefined && confirm !== removal.confirm) throw new CliError(notConfirmed(removal, confirm))
  if (!isOnTerminal()) {
    if (confirm === undefined)
      throw new CliError(`nothing was removed: without a terminal, pass --confirm ${removal.confirm}`)
    refuseUnnamed(place)
  }
  const tool = await openTool(named, project, { loginOptions: removal.loginOptions })
  await refuseMissing(place, tool)
  terminal.note(`removes the ${showPlace(place)}`)
  for (const line of removal.goes) terminal.note(`  goes:  ${line}`)
  for (const line of [...removal.stays, ...(await storedNames(project, asked.stage))])
    terminal.note(`  stays: ${line}`)
  if (confirm === undefined) {
    const typed = await prompt(`mayfly: type ${printable(removal.confirm)} to remove it: `)
    if (typed !== removal.confirm) throw new CliError(notConfirmed(removal, typed))
  }
  const code = await runAll(removal.steps, tool)
  if (code !== 0) return code
  process.stdout.write(`removed ${printable(place.name)}\n`)
  const again = projectCommandLine('deploy', project, targetName)
  terminal.next(`${again} --stage ${asked.stage} makes it again, empty`)
  return code
}

function notConfirmed({ confirm }: Removal, given: string): string {
  return `nothing was removed: "${printable(given)}" is not ${printable(confirm)}`
}
