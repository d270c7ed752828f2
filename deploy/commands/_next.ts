/** What a command ends with: the command that follows, to be typed as it is. */
import { relative } from 'node:path'
import type { Project } from '../contract/target.ts'
import { defaultEntry } from '../project/entry.ts'
import { unsentSecrets } from '../project/secrets.ts'
import { stageOption } from '../project/stages.ts'
import { findTarget } from '../targets/all.ts'
import { printable } from '../terminal/cli-error.ts'
import { quoted } from '../terminal/shell-word.ts'

/** `npx mayfly preview src/app.ts --target node`. */
export function projectCommandLine(name: string, project: Project, targetName: string): string {
  const isDefault = project.entry === defaultEntry(project.cwd)
  const entry = isDefault ? '' : ` ${quoted(relative(project.cwd, project.entry))}`
  return printable(`npx mayfly ${name}${entry} --target ${targetName}`)
}

/** After a build, or after `doctor` has found nothing wrong. */
export function howToServe(project: Project, targetName: string): string {
  if (findTarget(targetName).isOwnMachine)
    return `${projectCommandLine('preview', project, targetName)}${stageOption(project.stage)} to try the result`
  const secrets = unsentSecrets(project, new Map()).map((name) => ` --secret ${name}`)
  const options = `${stageOption(project.stage)}${secrets.join('')}`
  return `${projectCommandLine('deploy', project, targetName)}${printable(options)}`
}

/** After a deployment. */
export function howToAdd(url: string): string {
  return `npx mayfly-mcp add ${printable(quoted(url))} --client cursor`
}
