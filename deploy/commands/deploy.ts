/** `mayfly deploy`: builds, checks, and uploads with the platform's own CLI. */
import { join, relative } from 'node:path'
import type { Artefact, Deployment, DeployStep, Project, Target } from '../contract/target.ts'
import type { Secret } from '../project/env-file.ts'
import { readSecrets, unpublishable, unsentSecrets } from '../project/secrets.ts'
import { buildInto, buildWarnings, describeSize } from '../targets/build-into.ts'
import { type DeployTool, findTool, isLoggedIn, runStep } from '../targets/deploy-tool.ts'
import { CliError, printable, UsageError } from '../terminal/cli-error.ts'
import { quoted } from '../terminal/console.ts'
import { terminal } from '../terminal/terminal.ts'
import type { ProjectTarget } from './_choose-project.ts'
import { checkEndpoint, findDeployedUrl } from './_deployed-url.ts'
import { COMMON_HELP, outFolder, projectCommand } from './_project-command.ts'

const HELP = `mayfly deploy [entry] [--target <name>] [--secret <NAME>]... [--preview] [--check] [--dry-run]
              [--out <folder>] [--quiet] [-- <for the tool>...]

${COMMON_HELP}
  --secret   send this variable to the platform's secret store; its value comes from the environment, else .env or .dev.vars
  --preview  deploy to a separate URL and leave production unchanged (cloudflare, vercel, netlify, deno)
  --check    verify the deployed server with mayfly check, and exit with its code
  --dry-run  do everything except the upload, and print the commands
  --out      where to build; default dist/<target>
  --         pass everything after it to the platform's own CLI

Prints the URL of the MCP endpoint on stdout, and the output of the platform's CLI on stderr.

  mayfly deploy --secret MAYFLY_SECRET
  mayfly deploy --target vercel --dry-run
`

/** Options of the tools whose value is a name or a place, not a variable or a token. */
const SHOWN_OPTION =
  /^--(?:app|config|context|cwd|env|org|name|profile|project-ref|region|scope|site|stack-name|target|team)$/

/** Exit code 0 if everything is deployed, otherwise that of the tool that failed. Throws `CliError`. */
export const deploy = projectCommand({
  name: 'deploy',
  help: HELP,
  options: {
    secret: { type: 'string', multiple: true },
    'dry-run': { type: 'boolean' },
    preview: { type: 'boolean' },
    check: { type: 'boolean' },
    out: { type: 'string' },
  },
  hasToolOptions: true,
  run: deployProject,
})

interface DeployValues {
  readonly secret?: readonly string[] | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly preview?: boolean | undefined
  readonly check?: boolean | undefined
  readonly out?: string | undefined
}

async function deployProject(
  chosen: ProjectTarget,
  values: DeployValues,
  extra: readonly string[],
): Promise<number> {
  const { project, target } = chosen
  const { cwd } = project
  const { preview: isPreview = false } = values
  if (isPreview && !target.hasPreviews) {
    throw new UsageError(
      `${target.title} has no previews: deploy a second server under another name and test there`,
    )
  }
  const secrets = readSecrets(project, values.secret ?? [])
  const outDir = outFolder(chosen, values.out)

  const artefact = await buildInto(target, project, outDir, { secrets })
  terminal.note(`built ${relative(cwd, join(outDir, artefact.main))}: ${describeSize(artefact.size)}`)
  await refuseUndeployable(target, project, artefact)
  for (const line of (await target.tryOut?.(outDir, artefact, project)) ?? []) terminal.note(line)

  const deployment = target.deployment(outDir, project, { secrets, extra, isPreview })
  for (const name of unsentSecrets(project, secrets)) {
    terminal.warn(`${name} is not uploaded: pass --secret ${name} to send it to ${target.title}`)
  }
  for (const note of deployment.notes ?? []) terminal.note(note)
  if (values['dry-run']) return dryRun(deployment, project, unpublishable(project, secrets), extra)
  const tool = requireTool(deployment, project)
  if (!(await isLoggedIn(tool, deployment, cwd))) throw new CliError(notLoggedIn(deployment))
  let told = ''
  for (const step of deployment.steps) {
    terminal.note(step.title)
    const ran = await runStep(step, tool)
    if (ran.code !== 0) {
      terminal.warn(`${step.title} failed with exit code ${ran.code}: see the output above`)
      return ran.code
    }
    told = ran.told
  }
  const url = await findDeployedUrl(deployment, told, tool)
  return finish(url, deployment, values.check === true)
}

/** Prints the server's URL and, if asked, checks it. */
async function finish(
  url: string | undefined,
  { endpoint }: Deployment,
  isChecked: boolean,
): Promise<number> {
  if (url === undefined) {
    terminal.warn(
      "deployed; the platform's tool did not print the URL: see its output above, then run mayfly check <url>",
    )
    return isChecked ? 1 : 0
  }
  process.stdout.write(`deployed ${printable(url)}\n`)
  return isChecked ? checkEndpoint(url, endpoint?.headers) : 0
}

async function dryRun(
  deployment: Deployment,
  project: Project,
  secrets: readonly Secret[],
  extra: readonly string[],
): Promise<number> {
  const tool = findTool(deployment.tool, project.cwd)
  if (tool === undefined) terminal.warn(notInstalled(deployment))
  else if (!(await isLoggedIn(tool, deployment, project.cwd))) terminal.warn(notLoggedIn(deployment))
  const hidden = [...secrets.map(({ value }) => value), process.env[deployment.tool.token] ?? '']
  for (const step of deployment.steps)
    process.stdout.write(`${printable(shownStep(step, deployment, project.cwd, hidden, extra))}\n`)
  return 0
}

/** Throws for errors that `mayfly doctor` finds. Size limits only warn, since the platform may have raised them. */
async function refuseUndeployable(target: Target, project: Project, artefact: Artefact): Promise<void> {
  for (const line of await buildWarnings(artefact, target, project)) terminal.warn(line)
  for (const { level, message } of await target.examine(project)) {
    if (level === 'error') throw new CliError(message)
    if (level === 'warning') terminal.warn(message)
  }
}

function requireTool(deployment: Deployment, { cwd }: Project): DeployTool {
  const tool = findTool(deployment.tool, cwd)
  if (tool === undefined) throw new CliError(notInstalled(deployment))
  return tool
}

function notInstalled({ tool }: Deployment): string {
  return `${tool.name} is not installed: run ${tool.install}`
}

function notLoggedIn({ tool }: Deployment): string {
  return `you are not logged in to ${tool.name}: run ${tool.login}, or set ${tool.token}`
}

/** The command as a user would type it. Shows secrets by name only and omits tokens, since the output may end up in a log. */
function shownStep(
  step: DeployStep,
  { tool }: Deployment,
  cwd: string,
  hidden: readonly string[],
  extra: readonly string[],
): string {
  const words = step.args.map((word, at) => {
    if (hidden.some((value) => value !== '' && word.includes(value))) return '…'
    return isGiven(word, extra) ? shownGiven(word, step.args[at - 1] ?? '') : quoted(word)
  })
  const command = [quoted(step.command ?? tool.name), ...words].join(' ')
  const folder = relative(cwd, step.cwd)
  return [
    folder === '' ? '' : `cd ${quoted(folder)} && `,
    command,
    step.stdin === undefined ? '' : ' < (secrets, on stdin)',
  ].join('')
}

/** Whether a word of a command comes from after `--`, as written there or as the value of `--option=value`. */
function isGiven(word: string, extra: readonly string[]): boolean {
  return extra.some((one) => one === word || (one.startsWith('-') && one.endsWith(`=${word}`)))
}

/** The tools have many spellings for a value that grants access, so only what is known to be a name or a place is shown. */
function shownGiven(word: string, before: string): string {
  if (!word.startsWith('-')) return SHOWN_OPTION.test(before) && !/[=:]/.test(word) ? quoted(word) : '…'
  const [, option = '', value = ''] = /^(--[^=]*|-[^-])(.*)$/s.exec(word) ?? []
  if (value === '') return quoted(word)
  const isShown = SHOWN_OPTION.test(option) && !/[=:]/.test(value.slice(1))
  return isShown ? quoted(word) : `${quoted(option)}${value.startsWith('=') ? '=' : ''}…`
}
