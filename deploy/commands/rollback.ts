/** `mayfly rollback`: serves an earlier deployment again, with the platform's own CLI. */

import { createTempFolder } from '../build/work-folder.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { terminal } from '../terminal/terminal.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { COMMON_HELP, projectCommand } from './_project-command.ts'
import {
  isOnTerminal,
  openTool,
  prompt,
  refuseDoubtful,
  refuseMissing,
  requirePlatform,
  runAll,
  showPlace,
} from './_released-place.ts'

const HELP: Help = {
  usage: [
    'mayfly rollback [entry] [--to <deployment>] [--stage <stage>] [--target <name>] [--yes] [--quiet] [-- <for the tool>...]',
  ],
  options: [
    ...COMMON_HELP,
    [
      '--to',
      'the deployment, as the platform names it; default on cloudflare the version before, on vercel and netlify required',
    ],
    ['--stage', 'go back in this stage; default production'],
    ['--yes', 'do not ask; required without a terminal'],
    ['--', "pass everything after it to the platform's own CLI"],
  ],
  text: [
    'Code and configuration go back, secrets and stored data do not. Supabase, Deno Deploy and AWS Lambda cannot: deploy an earlier commit again.',
  ],
  examples: ['mayfly rollback --target cloudflare'],
  page: 'deploy/stages.md',
}

/** No option of a tool. */
const DEPLOYMENT = /^[\w.:/][\w.:/-]{0,199}$/

/** Exit code of the platform's tool. Throws `CliError` if the platform cannot, or the user says no. */
export const rollback = projectCommand({
  name: 'rollback',
  help: HELP,
  options: { to: { type: 'string' }, stage: { type: 'string' }, yes: { type: 'boolean' } },
  hasToolOptions: true,
  run: async (chosen, { to, yes = false }, extra) => {
    if (to !== undefined && !DEPLOYMENT.test(to))
      throw new UsageError(
        `"${printable(to)}" is not a deployment: pass its id or URL, as the platform names it`,
      )
    const { folder, dispose } = createTempFolder()
    try {
      return await goBack(chosen, { to, stage: chosen.project.stage, isAsked: !yes, extra, folder })
    } finally {
      dispose()
    }
  },
})

interface Asked {
  readonly to: string | undefined
  readonly stage: string | undefined
  readonly isAsked: boolean
  readonly extra: readonly string[]
  readonly folder: string
}

async function goBack({ project, target }: ProjectTarget, { isAsked, ...asked }: Asked): Promise<number> {
  const place = requirePlatform(target, 'place')(project, asked)
  if (target.rollback === undefined)
    throw new CliError(
      `${target.title} keeps no earlier deployment that its tool can serve again: check out an earlier commit, run npm ci, and deploy it`,
    )
  const { tool: named, loginOptions, steps } = target.rollback(project, asked)
  refuseDoubtful(place)
  if (isAsked && !isOnTerminal())
    throw new CliError('nothing was changed: without a terminal, pass --yes to go back')
  const tool = await openTool(named, project, { loginOptions })
  await refuseMissing(place, tool)
  const what = `goes back to ${asked.to ?? 'the version before'}: the ${showPlace(place)}; secrets and stored data stay as they are`
  terminal.note(what)
  if (isAsked && !/^y(?:es)?$/i.test(await prompt('mayfly: go on? (y/N): ')))
    throw new CliError('nothing was changed')
  const code = await runAll(steps, tool)
  if (code !== 0) return code
  process.stdout.write(`rolled back ${printable(place.name)}\n`)
  terminal.note('see that it answers: mayfly check <url>')
  return 0
}
