/** `mayfly logs`: streams the deployed server's logs with the platform's own CLI. */

import { FOUND, type Project, type Target } from '../contract/target.ts'
import { lookUp, runStep } from '../targets/deploy-tool.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Help } from '../terminal/help.ts'
import { COMMON_HELP, projectCommand } from './_project-command.ts'
import { openTool } from './_released-place.ts'

const HELP: Help = {
  usage: ['mayfly logs [entry] [--target <name>] [--quiet] [-- <for the tool>...]'],
  options: [...COMMON_HELP, ['--', "pass everything after it to the platform's own CLI"]],
  text: ["Streams the deployed server's logs until Ctrl-C."],
  examples: ['mayfly logs --target cloudflare', 'mayfly logs --target lambda -- --region eu-west-1'],
  page: 'cli.md',
}

/** Exit code of the platform's tool. Throws `CliError` if the platform has no such tool, or the user is not logged in. */
export const logs = projectCommand({
  name: 'logs',
  help: HELP,
  options: {},
  hasToolOptions: true,
  run: ({ project, target }, _values, toolOptions) => follow(target, project, toolOptions),
})

async function follow(target: Target, project: Project, extra: readonly string[]): Promise<number> {
  if (target.logs === undefined) {
    throw new CliError(`${target.title} runs on your own machine: its log is the server's output there`)
  }
  const { tool: named, lookup, nothing, step } = target.logs(project, extra)
  const tool = await openTool(named, project)
  const found = lookup === undefined ? '' : await lookUp(lookup, tool)
  if (found === undefined)
    throw new CliError(`${lookup?.title} failed: deploy the server first, and see the output above`)
  // `None`: how the AWS CLI prints an empty result as text.
  if (lookup !== undefined && /^(?:None)?$/.test(found))
    throw new CliError(nothing ?? `${lookup.title}: nothing found`)
  const args = step.args.map((arg) => (arg === FOUND ? found : arg))
  const { code } = await runStep({ ...step, args }, tool, { stdout: 1 })
  return code
}
