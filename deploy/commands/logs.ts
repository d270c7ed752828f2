/** `mayfly logs`: streams the deployed server's logs with the platform's own CLI. */

import { FOUND, type Project, type Target } from '../contract/target.ts'
import { stageOption } from '../project/stages.ts'
import { lookUp, runStep } from '../targets/deploy-tool.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { COMMON_HELP, projectCommand, STAGE_HELP, STAGE_OPTION } from './_project-command.ts'
import { openTool } from './_released-place.ts'

const HELP: Help = {
  usage: ['mayfly logs [entry] [--target <name>] [--stage <name>] [--quiet] [-- <for the tool>...]'],
  options: [...COMMON_HELP, STAGE_HELP, ['--', "pass everything after it to the platform's own CLI"]],
  text: ["Streams the deployed server's logs until Ctrl-C."],
  examples: ['mayfly logs --stage staging', 'mayfly logs --target lambda -- --region eu-west-1'],
  page: 'cli.md',
}

/** Exit code of the platform's tool. Throws `CliError` if the platform has no such tool, or the user is not logged in. */
export const logs = projectCommand({
  name: 'logs',
  help: HELP,
  options: STAGE_OPTION,
  hasToolOptions: true,
  run: ({ project, target }, _values, toolOptions) => follow(target, project, toolOptions),
})

async function follow(target: Target, project: Project, extra: readonly string[]): Promise<number> {
  if (target.logs === undefined) {
    throw new CliError(`${target.title} runs on your own machine: its log is the server's output there`)
  }
  const { tool: named, lookup, read = (told) => told, nothing, step } = target.logs(project, extra)
  const tool = await openTool(named, project)
  const told = lookup === undefined ? '' : await lookUp(lookup, tool)
  if (told === undefined)
    throw new CliError(
      `${lookup?.title} failed: deploy the server first with mayfly deploy${stageOption(project.stage)}, and see the output above`,
    )
  const found = read(told) ?? ''
  // `None`: how the AWS CLI prints an empty result as text.
  if (lookup !== undefined && /^(?:None)?$/.test(found))
    throw new CliError(nothing ?? `${lookup.title}: nothing found`)
  const filled = (word: string): string => (word === FOUND ? found : word)
  const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value)]))
  const { code } = await runStep({ ...step, args: step.args.map(filled), env }, tool, { stdout: 1 })
  return code
}
